//! What a running server does, on a terminal: throughput and percentiles of the last seconds, queues and collection by die.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use flashlane_core::Op;
use flashlane_outputs::shown::escaped;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Row, Sparkline, Table};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd as _, OwnedFd};

use crate::Stop;
use crate::control::ServerHandle;
use crate::snapshot::{Interval, Snapshot, UnitView};
use crate::statistics::lateness;

/// How often the figures are drawn anew.
const EVERY: Duration = Duration::from_millis(250);

/// Rates and percentiles are of so many of the last drawings: two seconds.
const RECENT: usize = 8;

/// How many drawings the throughput reaches back: a minute.
const HISTORY: usize = 240;

/// A thread that shows the figures on the terminal until the server ends.
pub struct Live(std::thread::JoinHandle<io::Result<()>>);

impl Live {
    /// Begins it; `q` and Ctrl-C end the server by `stop`.
    ///
    /// # Errors
    /// There are no threads left.
    pub fn begin(title: String, handle: ServerHandle, stop: Stop) -> io::Result<Live> {
        let show = move || show(title, &handle, stop);
        std::thread::Builder::new().name("dashboard".into()).spawn(show).map(Live)
    }

    /// Waits until the terminal is as it was before; the server has ended.
    ///
    /// # Errors
    /// The terminal could not be written to or read.
    pub fn end(self) -> io::Result<()> {
        self.0.join().unwrap_or_else(|_| Err(io::Error::other("the dashboard stopped")))
    }
}

fn show(title: String, handle: &ServerHandle, stop: Stop) -> io::Result<()> {
    let mut stop = Some(stop);
    let mut dashboard = Dashboard { title, recent: VecDeque::new(), history: VecDeque::new() };
    let shown = on_terminal(&mut dashboard, handle, &mut stop);
    let restored = ratatui::try_restore();
    if stop.is_some() {
        // Without a terminal the server goes on, until a signal ends it.
        while handle.snapshot().is_some() {
            std::thread::sleep(EVERY);
        }
    }
    shown.and(restored)
}

fn on_terminal(dashboard: &mut Dashboard, handle: &ServerHandle, stop: &mut Option<Stop>) -> io::Result<()> {
    let keys = keyboard()?;
    let mut terminal = ratatui::try_init()?;
    while let Some(snapshot) = handle.snapshot() {
        dashboard.add(snapshot);
        terminal.draw(|frame| dashboard.draw(frame))?;
        let next = Instant::now() + EVERY;
        while is_pressed(&keys, next.saturating_duration_since(Instant::now()))? {
            while event::poll(Duration::ZERO)? {
                if ends(&event::read()?) {
                    stop.take().into_iter().for_each(Stop::now);
                }
            }
        }
    }
    Ok(())
}

/// The terminal from which the library reads keys.
fn keyboard() -> io::Result<OwnedFd> {
    let stdin = io::stdin();
    if stdin.is_terminal() { stdin.as_fd().try_clone_to_owned() } else { Ok(File::open("/dev/tty")?.into()) }
}

/// Waits for a key, at most so long. The library's own wait does not end when the terminal has been closed.
///
/// # Errors
/// The terminal has been closed.
fn is_pressed(keys: &OwnedFd, at_most: Duration) -> io::Result<bool> {
    let mut fds = [PollFd::new(keys, PollFlags::IN)];
    let at_most = Timespec { tv_sec: at_most.as_secs() as _, tv_nsec: at_most.subsec_nanos() as _ };
    match rustix::event::poll(&mut fds, Some(&at_most)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(why) => return Err(why.into()),
    }
    let seen = fds[0].revents();
    if seen.intersects(PollFlags::HUP | PollFlags::ERR) {
        return Err(io::Error::other("the terminal has been closed"));
    }
    Ok(seen.contains(PollFlags::IN))
}

/// Whether this key ends the server.
fn ends(event: &Event) -> bool {
    let Event::Key(key) = event else { return false };
    let is_control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press && (is_control_c || key.code == KeyCode::Char('q'))
}

/// The figures that are drawn.
struct Dashboard {
    title: String,
    recent: VecDeque<Snapshot>,
    /// Bytes per second of reads and of writes, the latest first.
    history: VecDeque<[u64; 2]>,
}

impl Dashboard {
    fn add(&mut self, snapshot: Snapshot) {
        if let Some(from) = self.recent.back() {
            let interval = Interval { from, to: &snapshot };
            self.history.push_front([Op::Read, Op::Write].map(|op| interval.bytes(op) as u64));
            self.history.truncate(HISTORY);
        }
        self.recent.push_back(snapshot);
        if self.recent.len() > RECENT + 1 {
            self.recent.pop_front();
        }
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let (Some(from), Some(to)) = (self.recent.front(), self.recent.back()) else { return };
        let interval = Interval { from, to };
        let channels = to.units.len().div_ceil(to.units_per_channel.max(1)) as u16;
        let exports = to.exports.len() as u16;
        let areas = Layout::vertical([
            Constraint::Length(2),
            Constraint::Length(exports.saturating_add(3)),
            Constraint::Length(6),
            Constraint::Length(channels.saturating_add(2)),
            Constraint::Fill(1),
        ]);
        let [head, flows, throughput, dies, legend] = frame.area().layout(&areas);
        frame.render_widget(Paragraph::new(head_of(&self.title, to)), head);
        frame.render_widget(table_of(&interval), flows);
        self.draw_throughput(frame, throughput);
        let block = Block::bordered().title(" waiting at each die or chip, a row a channel ");
        let inside = block.inner(dies);
        frame.render_widget(block, dies);
        frame.render_widget(Paragraph::new(heat_map(to, inside)), inside);
        frame.render_widget(Paragraph::new(collection(&interval)), legend);
    }

    fn draw_throughput(&self, frame: &mut Frame<'_>, area: Rect) {
        let halves: [Rect; 2] = area.layout(&Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]));
        for ((op, color), area) in [("read", Color::Cyan), ("written", Color::Yellow)].into_iter().zip(halves) {
            let index = usize::from(op != "read");
            let values: Vec<u64> = self.history.iter().map(|both| both[index]).collect();
            let most = values.iter().copied().max().unwrap_or(0);
            let title = format!(" {op}, the last minute, at most {} MB/s ", decimal(most as f64 / 1e6));
            // The latest is at the right.
            let width = usize::from(area.width.saturating_sub(2));
            let before = std::iter::repeat_n(0, width.saturating_sub(values.len()));
            let shown: Vec<u64> = before.chain(values.iter().take(width).rev().copied()).collect();
            let style = Style::new().fg(color);
            frame.render_widget(
                Sparkline::default().block(Block::bordered().title(title)).data(shown).style(style),
                area,
            );
        }
    }
}

fn head_of(title: &str, now: &Snapshot) -> Vec<Line<'static>> {
    if let Some(fault) = &now.fault {
        let line = format!("{}; every command fails; q ends it", escaped(fault));
        return vec![Line::from(escaped(title).into_owned()), Line::styled(line, Style::new().fg(Color::Red))];
    }
    let next = now.next_scheduler.as_ref().map(|next| format!(", then {} once it has drained", escaped(next)));
    vec![
        Line::from(vec![
            Span::styled(escaped(title).into_owned(), Style::new().add_modifier(Modifier::BOLD)),
            Span::raw(format!(" under {}{}", escaped(&now.scheduler), next.unwrap_or_default())),
        ]),
        Line::from(format!(
            "{:.1} s, of the model {:.3} s; {} connections; answered later than by the model: {}; q ends it",
            now.real.as_secs_f64(),
            now.simulated_ns as f64 / 1e9,
            now.connections,
            lateness(&now.late, now.time_scale)
        )),
    ]
}

/// What each export did in the last seconds.
fn table_of(interval: &Interval<'_>) -> Table<'static> {
    let to = interval.to;
    let row = |export: usize| {
        let mut cells = vec![
            escaped(&to.exports[export].name).into_owned(),
            to.priorities[export].to_string(),
            to.under_way[export].to_string(),
        ];
        for op in [Op::Read, Op::Write] {
            let rates = interval.rates(export, op);
            let us = |rank| rates.response.percentile(rank).map_or("-".into(), |ns| decimal(ns as f64 / 1e3));
            let done = [format!("{:.0}", rates.commands), decimal(rates.bytes / 1e6), us(500_000), us(990_000)];
            cells.extend(done);
        }
        Row::new(cells)
    };
    let rows: Vec<Row<'_>> = (0..to.exports.len()).map(row).collect();
    let names =
        ["export", "prio", "under way", "reads/s", "MB/s", "p50 us", "p99 us", "writes/s", "MB/s", "p50 us", "p99 us"];
    let widths = [16, 4, 9, 8, 8, 9, 9, 8, 8, 9, 9].map(Constraint::Length);
    let header = Row::new(names).style(Style::new().add_modifier(Modifier::BOLD));
    Table::new(rows, widths)
        .header(header)
        .block(Block::bordered().title(" the last two seconds, times are the model's "))
}

/// A cell for each unit: what waits, as a number where there is room for it, on a colour; `=` is a pause, `c` collection.
fn heat_map(now: &Snapshot, area: Rect) -> Vec<Line<'static>> {
    let per_channel = now.units_per_channel.max(1);
    let wide = per_channel * 4 <= usize::from(area.width);
    let line = |units: &[UnitView]| Line::from(units.iter().map(|unit| cell(unit, wide)).collect::<Vec<_>>());
    now.units.chunks(per_channel).map(line).collect()
}

fn cell(unit: &UnitView, wide: bool) -> Span<'static> {
    let waiting = unit.waiting[0] + unit.waiting[1];
    let mark = if unit.is_paused {
        '='
    } else if unit.collecting > 0 {
        'c'
    } else {
        ' '
    };
    let text = match (wide, waiting) {
        (true, 0) => format!(" {} {mark}", if unit.is_busy { '*' } else { '.' }),
        (true, 1..=99) => format!("{waiting:>2} {mark}"),
        (true, _) => format!("++ {mark}"),
        (false, _) if mark != ' ' => mark.to_string(),
        (false, 0) => (if unit.is_busy { "*" } else { "." }).into(),
        (false, 1..=9) => waiting.to_string(),
        (false, _) => "+".into(),
    };
    // Each colour is for four times as much as the one before it.
    let style = match waiting {
        0 => Style::new(),
        1 => Style::new().bg(Color::Indexed(22)),
        2..=4 => Style::new().bg(Color::Indexed(58)),
        5..=16 => Style::new().bg(Color::Indexed(94)),
        17..=64 => Style::new().bg(Color::Indexed(130)),
        _ => Style::new().bg(Color::Indexed(160)),
    };
    Span::styled(text, style)
}

fn collection(interval: &Interval<'_>) -> Vec<Line<'static>> {
    let to = interval.to;
    let count = |what: fn(&UnitView) -> bool| to.units.iter().filter(|unit| what(unit)).count();
    vec![
        Line::from("*: busy, nothing waits; a number: reads and programs that wait; =: paused; c: collection waits"),
        Line::from(format!(
            "{} of {} busy, {} paused, {} collecting; {} pauses/s, {} erases/s, {} pages moved/s; write amplification {}",
            count(|unit| unit.is_busy),
            to.units.len(),
            count(|unit| unit.is_paused),
            count(|unit| unit.collecting > 0),
            decimal(interval.rate(|drive| drive.pauses)),
            decimal(interval.rate(|drive| drive.erases)),
            decimal(interval.rate(|drive| drive.gc_programs)),
            to.write_amplification()
        )),
    ]
}

/// A number with a digit behind the point where it is small.
fn decimal(number: f64) -> String {
    if number < 100.0 { format!("{number:.1}") } else { format!("{number:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::snapshot;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(dashboard: &Dashboard, width: u16, height: u16) -> TestBackend {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
        terminal.draw(|frame| dashboard.draw(frame)).expect("drawn");
        terminal.backend().clone()
    }

    fn dashboard(snapshots: usize) -> Dashboard {
        let title = "small on flin-isca18".into();
        let mut dashboard = Dashboard { title, recent: VecDeque::new(), history: VecDeque::new() };
        for number in 0..snapshots {
            let mut snapshot = snapshot();
            snapshot.real += EVERY * number as u32;
            for _ in 0..number {
                snapshot.exports[0].response[0].record(90_000);
                snapshot.exports[0].bytes[0] += 1_000_000;
            }
            dashboard.add(snapshot);
        }
        dashboard
    }

    #[test]
    fn figures_of_the_last_two_seconds_and_of_each_unit_are_drawn() {
        let backend = drawn(&dashboard(20), 120, 24);
        let text = backend.to_string();
        for line in [
            "small on flin-isca18 under flin",
            // Eight reads of 1 MB in two seconds.
            "db               1    5         4        4.0      90.0      90.0      0        0.0      -         -",
            "│ 3   .  ",
            "│ * = 7 c",
            "read, the last minute, at most 4.0 MB/s",
            "written, the last minute, at most 0.0 MB/s",
            "2 of 4 busy, 1 paused, 1 collecting; 0.0 pauses/s, 0.0 erases/s, 0.0 pages moved/s; write amplification 8.00",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
        let warm = |x: u16, y: u16| backend.buffer()[(x, y)].bg;
        let rows: Vec<u16> = (0..24).filter(|&y| warm(1, y) != Color::Reset || warm(5, y) != Color::Reset).collect();
        assert_eq!(rows.len(), 2, "the units at which something waits are coloured");
        assert_eq!((warm(1, rows[0]), warm(5, rows[1])), (Color::Indexed(58), Color::Indexed(94)));
    }

    #[test]
    fn a_fault_is_shown() {
        let mut dashboard = dashboard(2);
        dashboard.recent.back_mut().expect("drawn").fault = Some("the modelled drive stopped".into());
        let text = drawn(&dashboard, 120, 24).to_string();
        assert!(text.contains("the modelled drive stopped; every command fails; q ends it"), "{text}");
    }

    /// Any size of terminal, many units, and before there is anything.
    #[test]
    fn nothing_depends_on_the_size() {
        for (width, height) in [(1, 1), (10, 3), (80, 24), (300, 100), (40, 60)] {
            drawn(&dashboard(0), width, height);
            drawn(&dashboard(1), width, height);
            let mut dashboard = dashboard(12);
            let many = dashboard.recent.back_mut().expect("drawn");
            (many.units, many.units_per_channel) = (many.units.repeat(64), 64);
            drawn(&dashboard, width, height);
        }
    }
}
