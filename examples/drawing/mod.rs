//! Draws the pictures of the examples as SVG.

#![allow(dead_code, reason = "each example draws some of the shapes")]

use std::fmt::Write;
use std::path::Path;

use glam::DVec2;

/// A picture of a part of the plane. The y axis points up.
pub(crate) struct Drawing {
    head: String,
    body: String,
    /// Pixels per unit of length. The picture is in pixels, because some programs draw text of less than a pixel badly.
    scale: f64,
}

impl Drawing {
    /// Starts an SVG picture of the rectangle with the corners `low` and `high`. The picture is `pixels`
    /// wide.
    pub(crate) fn new(low: DVec2, high: DVec2, pixels: f64) -> Self {
        let size = high - low;
        let scale = pixels / size.x;
        let height = scale * size.y;
        let view = [low.x * scale, -high.y * scale, pixels, height].map(|x| format!("{x:.3}"));
        let view = view.join(" ");
        Self {
            head: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{pixels}\" height=\"{height:.0}\" \
                 viewBox=\"{view}\" font-family=\"sans-serif\" fill=\"none\" stroke-linejoin=\"round\">\n"
            ),
            body: String::new(),
            scale,
        }
    }

    /// Adds an element to the SVG text. The result can be ignored, because writing to a string cannot fail.
    fn add(&mut self, element: std::fmt::Arguments) {
        let _ = self.body.write_fmt(element);
    }

    /// Fills a rectangle.
    pub(crate) fn rectangle(&mut self, low: DVec2, high: DVec2, fill: &str) {
        let [low, high] = [low, high].map(|corner| corner * self.scale);
        let size = high - low;
        self.add(format_args!(
            "<rect x=\"{:.3}\" y=\"{:.3}\" width=\"{:.3}\" height=\"{:.3}\" fill=\"{fill}\"/>\n",
            low.x, -high.y, size.x, size.y
        ));
    }

    /// Fills a disc.
    pub(crate) fn disc(&mut self, center: DVec2, radius: f64, fill: &str) {
        let (center, radius) = (center * self.scale, radius * self.scale);
        self.add(format_args!(
            "<circle cx=\"{:.4}\" cy=\"{:.4}\" r=\"{radius:.4}\" fill=\"{fill}\"/>\n",
            center.x, -center.y
        ));
    }

    /// Draws the outline of a disc.
    pub(crate) fn circle(&mut self, center: DVec2, radius: f64, stroke: &str, width: f64) {
        let (center, radius, width) =
            (center * self.scale, radius * self.scale, width * self.scale);
        self.add(format_args!(
            "<circle cx=\"{:.4}\" cy=\"{:.4}\" r=\"{radius:.4}\" stroke=\"{stroke}\" \
             stroke-width=\"{width:.3}\"/>\n",
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
        let disc = format!("<circle r=\"{:.3}\" fill=\"{fill}\"/>", radius * self.scale);
        self.moving(path, &disc, duration);
    }

    /// Draws a pool ball with its number, which moves like [`moving_disc`](Self::moving_disc). A striped ball is white above
    /// and below its stripe.
    pub(crate) fn moving_ball(
        &mut self,
        path: &[(f64, DVec2)],
        radius: f64,
        (fill, number, striped): (&str, u32, bool),
        duration: f64,
    ) {
        let r = radius * self.scale;
        let (x, y) = (0.8 * r, 0.6 * r);
        let mut ball = format!("<circle r=\"{r:.3}\" fill=\"{fill}\"/>");
        if striped {
            let _ = write!(
                ball,
                "<path d=\"M {:.3} {:.3} A {r:.3} {r:.3} 0 0 1 {x:.3} {:.3} Z M {:.3} {y:.3} A {r:.3} {r:.3} 0 0 0 \
                 {x:.3} {y:.3} Z\" fill=\"#fff\"/>",
                -x, -y, -y, -x
            );
        }
        let _ = write!(
            ball,
            "<circle r=\"{:.3}\" fill=\"#fff\"/><text y=\"{:.3}\" font-size=\"{:.2}\" text-anchor=\"middle\" \
             fill=\"#222\">{number}</text>",
            0.55 * r,
            0.3 * r,
            0.85 * r
        );
        self.moving(path, &ball, duration);
    }

    /// Draws a level bar, `half` long to both sides, which moves like [`moving_disc`](Self::moving_disc).
    pub(crate) fn moving_bar(
        &mut self,
        path: &[(f64, DVec2)],
        half: f64,
        stroke: &str,
        duration: f64,
    ) {
        let x = half * self.scale;
        let bar =
            format!("<line x1=\"-{x:.2}\" x2=\"{x:.2}\" stroke=\"{stroke}\" stroke-width=\"4\"/>");
        self.moving(path, &bar, duration);
    }

    /// Draws elements around the origin that move along a path.
    fn moving(&mut self, path: &[(f64, DVec2)], elements: &str, duration: f64) {
        let (Some(first), Some(last)) = (path.first(), path.last()) else {
            return;
        };
        let join = |value: &dyn Fn(&(f64, DVec2)) -> String| {
            path.iter().map(value).collect::<Vec<_>>().join(";")
        };
        let length = (last.0 - first.0).max(f64::MIN_POSITIVE);
        let times = join(&|point| format!("{:.5}", (point.0 - first.0) / length));
        let scale = self.scale;
        let place = |point: &(f64, DVec2)| {
            let [x, y] = (point.1 * scale).to_array();
            format!("{x:.2} {:.2}", -y)
        };
        let (places, end) = (join(&place), place(last));
        self.add(format_args!(
            "<g transform=\"translate({end})\"><animateTransform attributeName=\"transform\" type=\"translate\" \
             dur=\"{duration}s\" repeatCount=\"indefinite\" keyTimes=\"{times}\" values=\"{places}\"/>\
             {elements}</g>\n"
        ));
    }

    /// Draws a line through points.
    pub(crate) fn line(
        &mut self,
        points: impl IntoIterator<Item = DVec2>,
        stroke: &str,
        width: f64,
    ) {
        let (scale, width) = (self.scale, width * self.scale);
        let points = points.into_iter().map(|p| p * scale);
        let points: Vec<_> = points.map(|p| format!("{:.2},{:.2}", p.x, -p.y)).collect();
        self.add(format_args!(
            "<polyline points=\"{}\" stroke=\"{stroke}\" stroke-width=\"{width:.3}\"/>\n",
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
            .map(|&p| p * self.scale)
            .map(|p| format!("{:.2},{:.2}", p.x, -p.y))
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
        let (at, size) = (at * self.scale, size * self.scale);
        self.add(format_args!(
            "<text x=\"{:.4}\" y=\"{:.4}\" font-size=\"{size:.2}\" text-anchor=\"middle\" \
             fill=\"{fill}\">{text}</text>\n",
            at.x, -at.y
        ));
    }

    /// Writes text of the given size at the point `at`. `anchor` is `start`, `middle` or `end`, and
    /// tells which part of the text is at this point.
    pub(crate) fn text(&mut self, at: DVec2, text: &str, size: f64, anchor: &str) {
        let (at, size) = (at * self.scale, size * self.scale);
        self.add(format_args!(
            "<text x=\"{:.4}\" y=\"{:.4}\" font-size=\"{size:.2}\" text-anchor=\"{anchor}\" \
             fill=\"#222\">{text}</text>\n",
            at.x, -at.y
        ));
    }

    /// Writes the picture to a file.
    pub(crate) fn save(&self, path: &Path) -> anyhow::Result<()> {
        use anyhow::Context;
        let Self { head, body, .. } = self;
        std::fs::write(path, format!("{head}{body}</svg>\n"))
            .with_context(|| format!("{}", path.display()))?;
        eprintln!("picture: {}", path.display());
        Ok(())
    }
}
