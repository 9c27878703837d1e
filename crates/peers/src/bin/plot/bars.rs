//! A panel of bars for each scene: how long each contender takes, with carom as 1.

use crate::axis::{Axis, Scale};
use crate::input::Peer;
use crate::svg::{DARK, GREY, LIGHT, line, number, picture, text};

const WIDTH: f64 = 900.0;
/// Panels side by side.
const COLUMNS: usize = 2;
/// Room in a panel for the names of the contenders, and for a bar's value.
const NAMES: f64 = 130.0;
const VALUES: f64 = 50.0;
/// Height of a bar, and what it takes with what is between bars.
const BAR: f64 = 11.0;
const ROW: f64 = 16.0;
/// Height of what is above all panels, and above and below the bars of each.
const TOP: f64 = 60.0;
const HEAD: f64 = 26.0;
const FOOT: f64 = 44.0;

/// Colours of what takes longer than carom, and of what takes less.
const LONGER: &str = "#0072b2";
const SHORTER: &str = "#d55e00";

/// The whole picture of the worlds of `n` spheres.
pub(crate) fn draw(peers: &[Peer], n: u64, caption: &str) -> String {
    let peers: Vec<&Peer> = peers.iter().filter(|peer| peer.n == n).collect();
    let mut panels: Vec<(&str, Vec<&Peer>)> = Vec::new();
    for peer in &peers {
        match panels.iter_mut().find(|(scene, _)| *scene == peer.scene) {
            Some((_, rows)) => rows.push(peer),
            None => panels.push((&peer.scene, vec![peer])),
        }
    }
    let ratios = peers.iter().filter_map(|peer| peer.ratio);
    let axis = Axis::new("time over that of carom", Scale::Log, ratios.chain([1.0]));
    let rows = panels.iter().map(|(_, rows)| rows.len()).max().unwrap_or(0);
    let height = HEAD + ROW * rows as f64 + FOOT;
    let width = WIDTH / COLUMNS as f64;
    let mut body = String::new();
    for (k, (scene, rows)) in panels.iter().enumerate() {
        let left = width * (k % COLUMNS) as f64;
        let top = TOP + height * (k / COLUMNS) as f64;
        body += &panel(scene, rows, &axis, [left, top]);
    }
    let whole = TOP + height * panels.len().div_ceil(COLUMNS) as f64 + 14.0;
    let title = format!(
        "Time of a step of {} spheres, against carom",
        number(n as f64)
    );
    let about = "bars to the right, blue: longer than carom; to the left, orange: shorter";
    picture([WIDTH, whole], [&title, about, caption], &body)
}

/// The bars of one scene.
fn panel(scene: &str, rows: &[&Peer], axis: &Axis<'_>, [left, top]: [f64; 2]) -> String {
    let [start, end] = [left + NAMES, left + WIDTH / COLUMNS as f64 - VALUES];
    let across = |ratio: f64| start + (end - start) * axis.place(ratio);
    let [first, last] = [top + HEAD, top + HEAD + ROW * rows.len() as f64];
    let mut panel = format!(
        "<g font-weight=\"bold\">{}</g>",
        text([start, top + 16.0], "start", DARK, scene)
    );
    for &tick in &axis.ticks {
        let x = across(tick);
        panel += &line([x, first], [x, last + 4.0], LIGHT);
        panel += &text([x, last + 17.0], "middle", DARK, &number(tick));
    }
    let middle = f64::midpoint(start, end);
    panel += &text([middle, last + 33.0], "middle", GREY, axis.label);
    let one = across(1.0);
    for (k, peer) in (0..).zip(rows) {
        let y = first + ROW * f64::from(k) + (ROW - BAR) / 2.0;
        let base = y + BAR - 1.5;
        panel += &text([start - 8.0, base], "end", DARK, &name(peer));
        let Some(ratio) = peer.ratio.filter(|ratio| *ratio > 0.0) else {
            panel += &text([one + 5.0, base], "start", GREY, "not run");
            continue;
        };
        let x = across(ratio);
        let (from, to) = (x.min(one), x.max(one));
        panel += &format!(
            "<rect x=\"{from:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\" \
             fill=\"{}\"/>\n",
            (to - from).max(1.0),
            if ratio < 1.0 { SHORTER } else { LONGER }
        );
        panel += &text([to + 5.0, base], "start", DARK, &three_digits(ratio));
    }
    panel + &line([one, first], [one, last + 4.0], GREY)
}

fn name(peer: &Peer) -> String {
    match peer.threads {
        1 => peer.contender.clone(),
        threads => format!("{}, {threads} threads", peer.contender),
    }
}

/// A ratio, as exactly as it can have been measured.
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
    fn each_contender_has_its_bar_or_a_word_why_not() {
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
        let plot = draw(&peers, 10, "");
        for word in [
            ">carom, 2 threads<",
            ">0.062<",
            ">slow<",
            ">12.3<",
            ">none<",
            ">not run<",
        ] {
            assert!(plot.contains(word), "{word}");
        }
        assert!(!plot.contains("larger"));
        assert_eq!(plot.matches("<rect").count(), 4);
    }
}
