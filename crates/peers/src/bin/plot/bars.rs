//! Bar charts of the time of each benchmarked method relative to carom's, with one panel for each scene.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::input::Peer;
use crate::picture::{Area, FONT, GREY, logarithmic, number, picture};

const COLUMNS: usize = 2;

const LONGER: RGBColor = RGBColor(0, 114, 178);
const SHORTER: RGBColor = RGBColor(213, 94, 0);

pub(crate) fn draw(peers: &[Peer], n: u64, caption: &str) -> anyhow::Result<String> {
    let peers: Vec<&Peer> = peers.iter().filter(|peer| peer.n == n).collect();
    let mut panels: Vec<(&str, Vec<&Peer>)> = Vec::new();
    for peer in &peers {
        match panels.iter_mut().find(|(scene, _)| *scene == peer.scene) {
            Some((_, rows)) => rows.push(peer),
            None => panels.push((&peer.scene, vec![peer])),
        }
    }
    let ratios: Vec<f64> = peers.iter().filter_map(|peer| peer.ratio).collect();
    let rows = panels.iter().map(|(_, rows)| rows.len()).max().unwrap_or(0);
    let title = format!(
        "Time of a step of {} spheres, relative to carom",
        number(n as f64)
    );
    let about = "blue bars to the right: slower than carom; orange bars to the left: faster";
    let down = panels.len().div_ceil(COLUMNS);
    let height = u32::try_from(down * (16 * rows + 74))?;
    picture((900, height), [&title, about, caption], |area| {
        let areas = area.split_evenly((down, COLUMNS));
        for ((scene, peers), area) in panels.iter().zip(&areas) {
            panel(area, scene, peers, rows, &ratios)?;
        }
        Ok(())
    })
}

/// Draws the bar chart of one benchmark scene. `ratios` has the time ratios of all scenes, so that all panels
/// have the same axis.
fn panel(
    area: &Area<'_>,
    scene: &str,
    peers: &[&Peer],
    rows: usize,
    ratios: &[f64],
) -> anyhow::Result<()> {
    let axis = logarithmic(ratios.iter().copied().chain([1.0]));
    let first = axis.range().start;
    let mut chart = ChartBuilder::on(area)
        .margin_left(130)
        .margin_right(50)
        .margin_bottom(14)
        .caption(scene, (FONT.0, FONT.1, FontStyle::Bold))
        .x_label_area_size(36)
        .build_cartesian_2d(axis, rows as f64..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .label_style(FONT)
        .set_all_tick_mark_size(4)
        .x_desc("time relative to carom")
        .x_label_formatter(&|x| number(*x))
        .draw()?;
    let field = chart.plotting_area();
    for (k, peer) in peers.iter().enumerate() {
        let [top, bottom] = [k, k + 1].map(|row| row as f64);
        // Writes a text `from` pixels to the right of x. If `from` is negative, the text ends that many
        // pixels to the left of x.
        let write = |text: String, x: f64, from: i32, colour: &RGBColor| {
            let end = if from < 0 { HPos::Right } else { HPos::Left };
            let style = TextStyle::from(FONT).color(colour);
            let style = style.pos(Pos::new(end, VPos::Center));
            let place = EmptyElement::at((x, f64::midpoint(top, bottom)));
            field.draw(&(place + Text::new(text, (from, 0), style)))
        };
        write(name(peer), first, -8, &BLACK)?;
        let Some(ratio) = peer.ratio.filter(|ratio| *ratio > 0.0) else {
            write("not run".to_owned(), 1.0, 5, &GREY)?;
            continue;
        };
        let colour = if ratio < 1.0 { SHORTER } else { LONGER };
        let mut bar = Rectangle::new([(1.0, top), (ratio, bottom)], colour.filled());
        bar.set_margin(2, 3, 0, 0);
        field.draw(&bar)?;
        write(three_digits(ratio), ratio.max(1.0), 5, &BLACK)?;
    }
    field.draw(&PathElement::new([(1.0, 0.0), (1.0, rows as f64)], GREY))?;
    Ok(())
}

fn name(peer: &Peer) -> String {
    match peer.threads {
        1 => peer.contender.clone(),
        threads => format!("{}, {threads} threads", peer.contender),
    }
}

/// Formats a ratio of two times with at most three significant digits, because the measurement is no more
/// precise.
fn three_digits(ratio: f64) -> String {
    match ratio {
        99.5.. => number(ratio.round()),
        9.95.. => format!("{ratio:.1}"),
        0.0995.. => format!("{ratio:.2}"),
        _ => format!("{ratio:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_contender_has_a_bar_or_the_words_not_run() {
        let peer = |contender: &str, threads, n, ratio| Peer {
            scene: "gas".to_owned(),
            n,
            contender: contender.to_owned(),
            threads,
            ratio,
        };
        let peers = [
            peer("carom", 1, 10, Some(1.0)),
            peer("carom", 2, 10, Some(0.0625)),
            peer("slow", 1, 10, Some(12.34)),
            peer("none", 1, 10, None),
            peer("larger", 1, 20, Some(3.0)),
        ];
        let plot = draw(&peers, 10, "").unwrap_or_else(|error| panic!("{error}"));
        for word in [
            "carom, 2 threads",
            "0.062",
            "slow",
            "12.3",
            "none",
            "not run",
        ] {
            assert!(plot.contains(&format!("\n{word}\n")), "{word}");
        }
        assert!(!plot.contains("larger"));
        assert_eq!(plot.matches("<rect").count(), 4);
    }
}
