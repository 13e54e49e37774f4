//! A plot of figures with their intervals as SVG: a row a case, a dot a series, a tick where its bar is. Plain text, so
//! that no plotting library is needed for dots and lines.

use tegula_automation::statistics::Interval;

pub struct Chart {
    pub title: String,
    pub series: Vec<String>,
    pub scale: Scale,
    /// Where the vertical line stands that a reader looks for.
    pub line: f64,
    pub rows: Vec<Row>,
}

pub enum Scale {
    Logarithmic { ticks: &'static [f64] },
    Linear { ticks: &'static [f64] },
}

pub struct Row {
    pub label: String,
    /// One a series; none where it has no figure.
    pub marks: Vec<Option<Mark>>,
}

pub struct Mark {
    pub value: Interval,
    pub bar: Option<f64>,
}

/// Told apart by people who see no red or green: the palette of Okabe and Ito.
const COLOURS: [&str; 4] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];
const LABELS: f64 = 250.0;
const WIDTH: f64 = 900.0;
const MARGIN: f64 = 20.0;
const TOP: f64 = 64.0;
const ROW: f64 = 16.0;

impl Scale {
    fn ticks(&self) -> &'static [f64] {
        match self {
            Scale::Logarithmic { ticks } | Scale::Linear { ticks } => ticks,
        }
    }

    /// Where a value stands from left to right; values beyond the ticks stand at the edge.
    fn x(&self, value: f64) -> f64 {
        let place = |value: f64| match self {
            Scale::Logarithmic { .. } => value.max(f64::MIN_POSITIVE).ln(),
            Scale::Linear { .. } => value,
        };
        let (first, last) = (self.ticks()[0], self.ticks()[self.ticks().len() - 1]);
        let share = (place(value) - place(first)) / (place(last) - place(first));
        LABELS + share.clamp(0.0, 1.0) * (WIDTH - LABELS - MARGIN)
    }
}

impl Chart {
    pub fn svg(&self) -> String {
        let height = TOP + ROW * self.rows.len() as f64 + MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
             font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
             <text x=\"{MARGIN}\" y=\"18\" font-size=\"14\">{}</text>\n",
            escape(&self.title)
        );
        for (index, name) in self.series.iter().enumerate() {
            let (x, colour) = (MARGIN + 130.0 * index as f64, colour(index));
            svg += &format!("<circle cx=\"{}\" cy=\"34\" r=\"4\" fill=\"{colour}\"/>", x + 4.0);
            svg += &format!("<text x=\"{}\" y=\"38\">{}</text>\n", x + 14.0, escape(name));
        }
        for tick in self.scale.ticks() {
            let x = self.scale.x(*tick);
            svg += &line(x, TOP - 6.0, x, height - MARGIN, "#dddddd", 1.0);
            svg += &format!("<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>\n", TOP - 10.0);
        }
        let x = self.scale.x(self.line);
        svg += &line(x, TOP - 6.0, x, height - MARGIN, "#444444", 1.5);
        for (index, row) in self.rows.iter().enumerate() {
            self.draw_row(row, TOP + ROW * (index as f64 + 0.5), &mut svg);
        }
        svg + "</svg>\n"
    }

    fn draw_row(&self, row: &Row, y: f64, svg: &mut String) {
        let label = escape(&row.label);
        *svg += &format!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n",
            LABELS - 8.0,
            y + 4.0
        );
        for (index, mark) in row.marks.iter().enumerate() {
            let Some(Mark { value, bar }) = mark else { continue };
            // Series stand a little apart, so that none hides another.
            let y = y + 3.0 * (index as f64 - (row.marks.len() as f64 - 1.0) / 2.0);
            let (colour, x) = (colour(index), |value| self.scale.x(value));
            *svg += &line(x(value.low), y, x(value.high), y, colour, 1.5);
            *svg +=
                &format!("<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\">", x(value.median));
            *svg += &format!("<title>{label}: {:.3}</title></circle>\n", value.median);
            if let Some(bar) = bar {
                *svg += &line(x(*bar), y - 5.0, x(*bar), y + 5.0, colour, 1.5);
            }
        }
    }
}

fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

fn line(x1: f64, y1: f64, x2: f64, y2: f64, colour: &str, width: f64) -> String {
    format!(
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\n"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_between_the_ticks() {
        let scale = Scale::Logarithmic { ticks: &[0.25, 1.0, 4.0] };
        let (left, middle, right) = (scale.x(0.25), scale.x(1.0), scale.x(4.0));
        assert!((middle - (left + right) / 2.0).abs() < 1e-9);
        assert_eq!((scale.x(0.01), scale.x(100.0)), (left, right));
        let scale = Scale::Linear { ticks: &[0.0, 1.0] };
        assert!((scale.x(0.25) - (LABELS + 0.25 * (WIDTH - LABELS - MARGIN))).abs() < 1e-9);
    }
}
