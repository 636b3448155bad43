//! The program as its users meet it, one subject a module. What is started, killed, measured or given a folder is the program, a process
//! of its own, so that no test needs one to itself.

mod command_line;
mod common;
#[cfg(unix)]
mod distribution;
#[cfg(unix)]
mod drive_of_today;
mod fit;
#[cfg(unix)]
mod inputs;
mod named;
#[cfg(unix)]
mod options;
mod outputs;
#[cfg(unix)]
mod pages;
mod paper;
#[cfg(unix)]
mod paper_runs;
#[cfg(unix)]
mod readings;
#[cfg(unix)]
mod recommend;
#[cfg(unix)]
mod seeds;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod serve_clients;
#[cfg(target_os = "linux")]
mod serve_files;
#[cfg(target_os = "linux")]
mod serve_guest;
#[cfg(target_os = "linux")]
mod serve_page;
#[cfg(target_os = "linux")]
mod serve_tools;
#[cfg(target_os = "linux")]
mod serve_trouble;
#[cfg(unix)]
mod sweep;
#[cfg(unix)]
mod tutorials;
