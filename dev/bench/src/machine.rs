//! Describes the machine that figures were measured on.

use std::fs;
use std::process::Command;

/// The machine in one line: processor, cores, memory, compiler.
pub fn describe() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let parts =
        [processor(&read("/proc/cpuinfo")), format!("{cores} cores"), memory(&read("/proc/meminfo")), compiler()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The compiler and its version; empty if there is none here.
pub fn compiler() -> String {
    let printed = Command::new("rustc").arg("--version").output().ok().map(|output| output.stdout);
    let printed = String::from_utf8(printed.unwrap_or_default()).unwrap_or_default();
    printed.split(" (").next().unwrap_or_default().trim().to_string()
}

/// The processor's name from `/proc/cpuinfo`; some architectures give only parts of it.
fn processor(cpuinfo: &str) -> String {
    let value = |key: &str| {
        let line = cpuinfo.lines().find(|line| line.split(':').next().is_some_and(|k| k.trim() == key))?;
        line.split_once(':').map(|(_, value)| value.trim().to_string()).filter(|value| !value.is_empty())
    };
    let part = || Some(format!("CPU implementer {} part {}", value("CPU implementer")?, value("CPU part")?));
    // Cloud machines report "AMD EPYC" for every generation.
    let generation = || Some(format!(" (family {}, model {})", value("cpu family")?, value("model")?));
    let name = value("model name").map(|name| name + &generation().unwrap_or_default());
    name.or_else(part).unwrap_or_else(|| "unknown processor".into())
}

/// Memory from `/proc/meminfo`, rounded up to the next GiB.
fn memory(meminfo: &str) -> String {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.map(|k| format!("{} GiB", k.div_ceil(1 << 20))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_have_names() {
        let plain = "processor\t: 0\nmodel\t\t: 79\nmodel name\t: Some CPU @ 2.20GHz\n";
        assert_eq!(processor(plain), "Some CPU @ 2.20GHz");
        assert_eq!(processor(&format!("cpu family\t: 6\n{plain}")), "Some CPU @ 2.20GHz (family 6, model 79)");
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(processor(arm), "CPU implementer 0x41 part 0xd0c");
        assert_eq!(processor(""), "unknown processor");
    }

    #[test]
    fn memory_is_rounded_up() {
        assert_eq!(memory("MemTotal:       24576000 kB\nMemFree: 1 kB\n"), "24 GiB");
        assert_eq!(memory(""), "");
    }
}
