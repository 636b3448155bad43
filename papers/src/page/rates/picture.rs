//! The picture of gains by rate: a line a group, and what is published as a broken line of its colour.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{GROUPS, mean, of_group};
use crate::slacker::variants::{VARIANTS, rate_of};
use crate::stored::StoredMeasurements;

/// Size of the picture, and the edges of its field, pixels.
const SIZE: (u32, u32) = (760, 360);
const FIELD: [i32; 4] = [60, 40, 590, 310];
/// The largest gain that has room, percent.
const MOST: f64 = 14.0;
/// The colours of the groups: told apart by eyes that confuse red and green.
const COLOURS: [RGBColor; 3] = [RGBColor(0, 90, 160), RGBColor(220, 110, 20), RGBColor(100, 100, 100)];

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// The picture as SVG.
///
/// # Errors
/// A failure of the library that draws.
pub fn picture(variants: &[StoredMeasurements]) -> Result<String, String> {
    let mut points: Vec<(f64, [f64; 3])> = Vec::new();
    for variant in VARIANTS {
        let stored = variants.iter().find(|stored| stored.made.variant.as_deref() == Some(variant.name));
        let Some((rate, stored)) = rate_of(variant.name).and_then(|rate| rate.parse().ok()).zip(stored) else {
            continue;
        };
        let gain = |group| mean(&of_group(&stored.figures, &["improvement", "slacker"], group));
        points.push((rate, GROUPS.map(|(group, ..)| gain(group))));
    }
    let mut svg = String::new();
    draw(&mut svg, &points).map_err(|why| why.to_string())?;
    svg.push('\n');
    Ok(svg)
}

/// Where a rate and a gain lie.
fn at(rate: f64, gain: f64) -> (i32, i32) {
    let [left, top, right, bottom] = FIELD.map(f64::from);
    let (first, last) = (libm::log(0.25), libm::log(6.0));
    let x = left + (right - left) * (libm::log(rate) - first) / (last - first);
    let y = bottom - (bottom - top) * gain.clamp(0.0, MOST) / MOST;
    (x.round() as i32, y.round() as i32)
}

fn draw(svg: &mut String, points: &[(f64, [f64; 3])]) -> Drawn<()> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let style = |size: i32, colour: &RGBColor, to: HPos| {
        ("sans-serif", size).into_font().color(colour).pos(Pos::new(to, VPos::Center))
    };
    let [left, top, right, bottom] = FIELD;
    let title = "Gain of the mean by Slacker, percent, by the rate of bursts over what the drive can take";
    root.draw(&Text::new(title, (10, 18), style(15, &BLACK, HPos::Left)))?;
    root.draw(&PathElement::new([(left, top), (left, bottom), (right, bottom)], BLACK))?;
    for gain in (0..=MOST as i32).step_by(2) {
        let y = at(1.0, f64::from(gain)).1;
        root.draw(&PathElement::new([(left - 4, y), (left, y)], BLACK))?;
        root.draw(&Text::new(gain.to_string(), (left - 8, y), style(12, &BLACK, HPos::Right)))?;
    }
    for (rate, _) in points {
        let x = at(*rate, 0.0).0;
        root.draw(&PathElement::new([(x, bottom), (x, bottom + 4)], BLACK))?;
        root.draw(&Text::new(rate.to_string(), (x, bottom + 14), style(12, &BLACK, HPos::Center)))?;
    }
    for (number, ((group, _, published), colour)) in GROUPS.into_iter().zip(&COLOURS).enumerate() {
        let y = at(1.0, published).1;
        for x in (left..right).step_by(10) {
            root.draw(&PathElement::new([(x, y), (x + 5, y)], colour))?;
        }
        let note = format!("published {published}");
        root.draw(&Text::new(note, (right + 6, y), style(12, colour, HPos::Left)))?;
        let line: Vec<(i32, i32)> = points.iter().map(|(rate, gains)| at(*rate, gains[number])).collect();
        root.draw(&PathElement::new(line.clone(), colour.stroke_width(2)))?;
        for point in line {
            root.draw(&Circle::new(point, 3, colour.filled()))?;
        }
        let name = group.name().replace('_', "-");
        root.draw(&Text::new(name, (right + 6, bottom - 50 + 18 * number as i32), style(13, colour, HPos::Left)))?;
    }
    root.present()?;
    Ok(())
}
