//! Draws the pictures of the examples as SVG.

#![allow(dead_code, reason = "each example draws some of the shapes")]

use std::fmt::Write;
use std::path::Path;

use glam::DVec2;

/// A picture of a part of the plane. The y axis points up.
pub(crate) struct Drawing {
    head: String,
    body: String,
}

impl Drawing {
    /// Starts an SVG picture of the rectangle with the corners `low` and `high`. The picture is `pixels`
    /// wide.
    pub(crate) fn new(low: DVec2, high: DVec2, pixels: f64) -> Self {
        let size = high - low;
        let height = pixels * size.y / size.x;
        let view = format!("{} {} {} {}", low.x, -high.y, size.x, size.y);
        Self {
            head: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{pixels}\" height=\"{height:.0}\" \
                 viewBox=\"{view}\" font-family=\"sans-serif\" fill=\"none\" stroke-linejoin=\"round\">\n"
            ),
            body: String::new(),
        }
    }

    /// Adds an element to the SVG text. The result can be ignored, because writing to a string cannot fail.
    fn add(&mut self, element: std::fmt::Arguments) {
        let _ = self.body.write_fmt(element);
    }

    /// Fills a rectangle.
    pub(crate) fn rectangle(&mut self, low: DVec2, high: DVec2, fill: &str) {
        let size = high - low;
        self.add(format_args!(
            "<rect x=\"{:.4}\" y=\"{:.4}\" width=\"{:.4}\" height=\"{:.4}\" fill=\"{fill}\"/>\n",
            low.x, -high.y, size.x, size.y
        ));
    }

    /// Fills a disc.
    pub(crate) fn disc(&mut self, center: DVec2, radius: f64, fill: &str) {
        self.add(format_args!(
            "<circle cx=\"{:.4}\" cy=\"{:.4}\" r=\"{radius:.4}\" fill=\"{fill}\"/>\n",
            center.x, -center.y
        ));
    }

    /// Draws the outline of a disc.
    pub(crate) fn circle(&mut self, center: DVec2, radius: f64, stroke: &str, width: f64) {
        self.add(format_args!(
            "<circle cx=\"{:.4}\" cy=\"{:.4}\" r=\"{radius:.4}\" stroke=\"{stroke}\" \
             stroke-width=\"{width}\"/>\n",
            center.x, -center.y
        ));
    }

    /// Draws an animated disc, which moves along straight lines between positions at given times. The animation
    /// takes `duration` seconds and is repeated. Programs that show no animations draw the last position.
    pub(crate) fn moving_disc(
        &mut self,
        path: &[(f64, DVec2)],
        radius: f64,
        fill: &str,
        duration: f64,
    ) {
        let (Some(first), Some(last)) = (path.first(), path.last()) else {
            return;
        };
        let join = |value: &dyn Fn(&(f64, DVec2)) -> f64| {
            let values = path.iter().map(|point| format!("{:.5}", value(point)));
            values.collect::<Vec<_>>().join(";")
        };
        let time = join(&|point| (point.0 - first.0) / (last.0 - first.0));
        let animate = |name: &str, values: String| {
            format!(
                "<animate attributeName=\"{name}\" dur=\"{duration}s\" repeatCount=\"indefinite\" \
                 keyTimes=\"{time}\" values=\"{values}\"/>"
            )
        };
        let x = animate("cx", join(&|point| point.1.x));
        let y = animate("cy", join(&|point| -point.1.y));
        self.add(format_args!(
            "<circle cx=\"{:.4}\" cy=\"{:.4}\" r=\"{radius:.4}\" fill=\"{fill}\">{x}{y}</circle>\n",
            last.1.x, -last.1.y
        ));
    }

    /// Draws a line through points.
    pub(crate) fn line(
        &mut self,
        points: impl IntoIterator<Item = DVec2>,
        stroke: &str,
        width: f64,
    ) {
        let points = points.into_iter();
        let points: Vec<_> = points.map(|p| format!("{:.4},{:.4}", p.x, -p.y)).collect();
        self.add(format_args!(
            "<polyline points=\"{}\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>\n",
            points.join(" ")
        ));
    }

    /// Draws the outline of a polygon.
    pub(crate) fn outline(&mut self, corners: &[DVec2], stroke: &str, width: f64) {
        self.line(
            corners.iter().chain(corners.first()).copied(),
            stroke,
            width,
        );
    }

    /// Draws a polygon. In an animation, which takes `duration` seconds and is repeated, the polygon vanishes
    /// after the fraction `part` of this time. If `part` is `None`, the polygon stays. Programs that cannot
    /// show animations draw the picture at the end.
    pub(crate) fn vanishing_polygon(
        &mut self,
        corners: &[DVec2],
        fill: &str,
        part: Option<f64>,
        duration: f64,
    ) {
        let corners: Vec<_> = corners
            .iter()
            .map(|p| format!("{:.4},{:.4}", p.x, -p.y))
            .collect();
        let corners = corners.join(" ");
        let Some(part) = part else {
            self.add(format_args!(
                "<polygon points=\"{corners}\" fill=\"{fill}\"/>\n"
            ));
            return;
        };
        self.add(format_args!(
            "<polygon points=\"{corners}\" fill=\"{fill}\" opacity=\"0\"><animate \
             attributeName=\"opacity\" dur=\"{duration}s\" repeatCount=\"indefinite\" calcMode=\"discrete\" \
             keyTimes=\"0;{part:.5}\" values=\"1;0\"/></polygon>\n"
        ));
    }

    /// Writes text of the given size and colour. The middle of its base line is at `at`.
    pub(crate) fn colored_text(&mut self, at: DVec2, text: &str, size: f64, fill: &str) {
        self.add(format_args!(
            "<text x=\"{:.4}\" y=\"{:.4}\" font-size=\"{size}\" text-anchor=\"middle\" \
             fill=\"{fill}\">{text}</text>\n",
            at.x, -at.y
        ));
    }

    /// Writes text of the given size at the point `at`. `anchor` is `start`, `middle` or `end`, and
    /// tells which part of the text is at this point.
    pub(crate) fn text(&mut self, at: DVec2, text: &str, size: f64, anchor: &str) {
        self.add(format_args!(
            "<text x=\"{:.4}\" y=\"{:.4}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
             fill=\"#222\">{text}</text>\n",
            at.x, -at.y
        ));
    }

    /// Writes the picture to a file.
    pub(crate) fn save(&self, path: &Path) -> anyhow::Result<()> {
        use anyhow::Context;
        let Self { head, body } = self;
        std::fs::write(path, format!("{head}{body}</svg>\n"))
            .with_context(|| format!("{}", path.display()))?;
        eprintln!("picture: {}", path.display());
        Ok(())
    }
}
