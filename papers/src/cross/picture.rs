//! The picture: a table of colours, schedulers by families of workloads.

use std::fmt::Write as _;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::workloads::FAMILIES;
use crate::PaperResult;

/// The figure that is drawn.
const FIGURE: &str = "speedup";
/// Width of the names, and size of a cell, pixels.
const NAMES: i32 = 190;
const CELL: (i32, i32) = (110, 24);
/// Height of the title and the heads of the columns.
const HEAD: i32 = 64;
/// A speedup of this factor, or a slowdown by it, has the full colour.
const FULL: f64 = 2.0;

/// The picture of a comparison as SVG; `None` if it has no figures.
///
/// # Errors
/// A failure of the library that draws.
pub fn picture(result: &PaperResult) -> Result<Option<String>, String> {
    let Some(figures) = result.figures.get(FIGURE).and_then(|value| value.as_object()) else { return Ok(None) };
    let columns: Vec<&str> = FAMILIES.iter().copied().filter(|family| figures.contains_key(*family)).collect();
    let mut rows: Vec<&str> = Vec::new();
    for family in &columns {
        let names = figures[*family].as_object().into_iter().flat_map(|rows| rows.keys());
        names.for_each(|name| {
            if !rows.contains(&name.as_str()) {
                rows.push(name)
            }
        });
    }
    let value = |row: &str, family: &str| figures[family].get(row).and_then(|figure| figure["mean"].as_f64());
    let size = (NAMES + CELL.0 * columns.len() as i32 + 10, HEAD + CELL.1 * rows.len() as i32 + 10);
    let mut svg = String::new();
    draw(&mut svg, (size.0 as u32, size.1 as u32), &columns, &rows, &value).map_err(|why| why.to_string())?;
    let _ = writeln!(svg);
    Ok(Some(svg))
}

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

fn draw(
    svg: &mut String,
    size: (u32, u32),
    columns: &[&str],
    rows: &[&str],
    value: &dyn Fn(&str, &str) -> Option<f64>,
) -> Drawn<()> {
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&WHITE)?;
    let text = |size: i32, at: HPos| ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(at, VPos::Center));
    let title = "Mean response time under fcfs over the scheduler's: above 1 it is faster";
    root.draw(&Text::new(title, (10, 18), text(15, HPos::Left)))?;
    for (column, family) in columns.iter().enumerate() {
        let middle = NAMES + CELL.0 * column as i32 + CELL.0 / 2;
        root.draw(&Text::new(*family, (middle, HEAD - 14), text(13, HPos::Center)))?;
    }
    for (row, name) in rows.iter().enumerate() {
        let top = HEAD + CELL.1 * row as i32;
        root.draw(&Text::new(*name, (NAMES - 10, top + CELL.1 / 2), text(13, HPos::Right)))?;
        for (column, family) in columns.iter().enumerate() {
            let left = NAMES + CELL.0 * column as i32;
            let found = value(name, family);
            let corners = [(left, top), (left + CELL.0 - 2, top + CELL.1 - 2)];
            root.draw(&Rectangle::new(corners, colour(found).filled()))?;
            let shown = found.map_or_else(|| "-".to_owned(), |factor| format!("{factor:.2}"));
            root.draw(&Text::new(shown, (left + CELL.0 / 2, top + CELL.1 / 2), text(13, HPos::Center)))?;
        }
    }
    root.present()?;
    Ok(())
}

/// Blue where it is faster, orange where it is slower, paler towards 1; both are told apart by eyes that confuse red and green.
fn colour(factor: Option<f64>) -> RGBColor {
    let Some(factor) = factor else { return RGBColor(240, 240, 240) };
    let share = (libm::log(factor).abs() / libm::log(FULL)).min(1.0);
    let (r, g, b) = if factor >= 1.0 { (86.0, 155.0, 220.0) } else { (240.0, 140.0, 40.0) };
    let mixed = |full: f64| (255.0 + (full - 255.0) * share).round() as u8;
    RGBColor(mixed(r), mixed(g), mixed(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_grow_from_white_and_stop() {
        let rgb = |factor| {
            let RGBColor(r, g, b) = colour(factor);
            (r, g, b)
        };
        assert_eq!(rgb(Some(1.0)), (255, 255, 255));
        assert_eq!((rgb(Some(2.0)), rgb(Some(0.5))), ((86, 155, 220), (240, 140, 40)));
        assert_eq!((rgb(Some(90.0)), rgb(None)), (rgb(Some(2.0)), (240, 240, 240)));
    }
}
