package plots

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	"github.com/quernlab/quern/display"
)

// Interactive returns what a front end needs to show the figure with the values under the pointer, zoom and logarithmic
// axes: the figure as SVG, and the curves of its panels. It returns nil for a figure without curves, such as a matrix. The
// figure must not be changed afterwards.
func (f *Figure) Interactive() *display.Interactive {
	r := &recorder{svgCanvas: newSVGCanvas(f.points())}
	f.draw(draw.New(r))
	if !slices.ContainsFunc(r.panels, func(p *panelView) bool { return len(p.Series) > 0 }) {
		return nil
	}
	v := view{SVG: r.document(f.String()), Text: f.String(), Panels: r.panels}
	return &display.Interactive{View: v, CSV: v.csv}
}

// view is the content of an interactive view, in the form in which widgets/figure.js reads it. Lengths are in units of the
// SVG.
type view struct {
	SVG    string       `json:"svg"` // in which the panel of each index i is the <g data-panel="i">
	Text   string       `json:"text"`
	Panels []*panelView `json:"panels"`
}

// panelView is a pair of axes and its curves; without curves, such as those of a matrix, it stays as it is drawn.
type panelView struct {
	Title  string        `json:"title"` // of the section
	Box    [4]float64    `json:"box"`   // left, top, right and bottom with the labels of the axes
	Data   [4]float64    `json:"data"`  // the same of the area of the data
	X      axisView      `json:"x"`
	Y      axisView      `json:"y"`
	Series []*seriesView `json:"series"`
}

// axisView is an axis.
type axisView struct {
	Label string  `json:"label"`
	Unit  string  `json:"unit"` // of the tick labels
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Log   bool    `json:"log"`
	Hide  bool    `json:"hide"` // it has no labels
}

// seriesView is a curve with what belongs to it: dots, a range, an area.
type seriesView struct {
	Name    string    `json:"name"`
	Color   string    `json:"color"`
	Opacity float64   `json:"opacity"`
	Width   float64   `json:"width"`
	Dashes  []float64 `json:"dashes,omitempty"`
	Stepped bool      `json:"stepped,omitempty"`
	Radius  float64   `json:"radius,omitempty"` // of a dot at each point
	Points  pairs     `json:"points"`
	Low     pairs     `json:"low,omitempty"` // of the range, with High
	High    pairs     `json:"high,omitempty"`
	Band    float64   `json:"band,omitempty"` // opacity of the range
	Area    float64   `json:"area,omitempty"` // opacity of the area down to the axis; 0 for none

	key string    // of its color and dashes
	all [][]point // unbroken parts; Points may have fewer points
}

// pairs are points, with a point that is not a number between unbroken parts.
type pairs []point

// MarshalJSON returns a list in which x and y alternate, with null for values that are not numbers. It has six digits of y, which
// are more than a screen shows.
func (p pairs) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	number := func(v float64, digits int) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, "null"...)
			return
		}
		b = strconv.AppendFloat(b, v, 'g', digits, 64)
	}
	for _, q := range p {
		number(q.x, 9)
		number(q.y, 6)
	}
	return append(b, ']'), nil
}

var _ json.Marshaler = pairs{}

// recorder is an SVG canvas on which the curves of the panels are recorded while they are drawn.
type recorder struct {
	*svgCanvas
	title  string  // of the section
	legend []entry // of the section
	panels []*panelView
	parts  []rangePart
	fills  map[string]float64 // opacities of areas by color
}

// rangePart is a range whose curve has not been drawn yet.
type rangePart struct {
	color     color.NRGBA
	intervals []interval
}

// section records the names for the panels that follow.
func (r *recorder) section(s section) { r.title, r.legend = oneLine(s.title), s.legend }

// panel draws a panel and records its curves.
func (r *recorder) panel(p panel, box draw.Canvas) {
	data := p.plot.DataCanvas(box)
	v := &panelView{
		Title: r.title, Box: r.corners(box), Data: r.corners(data), Series: []*seriesView{},
		X: axisView{Label: oneLine(p.x), Min: p.plot.X.Min, Max: p.plot.X.Max},
		Y: axisView{Label: oneLine(p.y), Min: p.plot.Y.Min, Max: p.plot.Y.Max},
	}
	_, v.X.Log = p.plot.X.Scale.(logScale)
	_, v.Y.Log = p.plot.Y.Scale.(logScale)
	marker := p.plot.X.Tick.Marker
	if below, ok := marker.(unlabeled); ok {
		v.X.Hide, marker = true, below.Ticker
	}
	if _, ok := marker.(timed); ok {
		v.X.Unit = " s"
	}
	for _, t := range p.plot.Y.Tick.Marker.Ticks(p.plot.Y.Min, p.plot.Y.Max) {
		if strings.HasSuffix(t.Label, "%") {
			v.Y.Unit = " %"
		}
	}
	r.panels, r.parts, r.fills = append(r.panels, v), nil, map[string]float64{}
	fmt.Fprintf(&r.body, "<g data-panel=\"%d\">\n", len(r.panels)-1)
	p.plot.Draw(box)
	r.body.WriteString("</g>\n")
	for _, s := range v.Series {
		s.Area = r.fills[s.Color]
		for i, part := range s.all {
			if i > 0 {
				s.Points = append(s.Points, point{math.NaN(), math.NaN()})
			}
			s.Points = append(s.Points, reduce(part, v.X.Min, v.X.Max, v.X.Log)...)
		}
	}
}

// corners returns left, top, right and bottom of a canvas in the SVG.
func (r *recorder) corners(c draw.Canvas) [4]float64 {
	left, bottom := r.toSVG(c.Min)
	right, top := r.toSVG(c.Max)
	return [4]float64{float64(left) / 100, float64(top) / 100, float64(right) / 100, float64(bottom) / 100}
}

// now returns the panel that is drawn.
func (r *recorder) now() *panelView { return r.panels[len(r.panels)-1] }

// curve records a line. Lines of one style are parts of one series.
func (r *recorder) curve(m curve) {
	name, opacity := hex(m.style.Color)
	key := fmt.Sprint(name, opacity, m.style.Dashes)
	v := r.now()
	i := slices.IndexFunc(v.Series, func(s *seriesView) bool { return s.key == key })
	if i < 0 {
		s := &seriesView{Name: r.name(m), Color: name, Opacity: opacity, Width: float64(m.style.Width), Stepped: m.stepped, key: key}
		for _, d := range m.style.Dashes {
			s.Dashes = append(s.Dashes, float64(d))
		}
		i, v.Series = len(v.Series), append(v.Series, s)
	}
	s := v.Series[i]
	s.all = append(s.all, m.points)
	for _, part := range r.parts {
		if clr, _ := hex(part.color); clr != s.Color {
			continue
		}
		s.Band = float64(part.color.A) / 255
		if len(s.Low) > 0 {
			s.Low, s.High = append(s.Low, point{math.NaN(), math.NaN()}), append(s.High, point{math.NaN(), math.NaN()})
		}
		for _, q := range part.intervals {
			s.Low, s.High = append(s.Low, point{q.x, q.low}), append(s.High, point{q.x, q.high})
		}
	}
	r.parts = slices.DeleteFunc(r.parts, func(p rangePart) bool { clr, _ := hex(p.color); return clr == s.Color })
}

// name returns the name of a line in the legend, where one with dashes may stand for all such lines, or else that of the axis.
func (r *recorder) name(m curve) string {
	for _, sameColor := range []bool{true, false} {
		for _, e := range r.legend {
			if !e.filled && slices.Equal(e.dashes, m.style.Dashes) && (sameColor && hexOf(e.color) == hexOf(m.style.Color) || !sameColor && len(e.dashes) > 0) {
				return oneLine(e.name)
			}
		}
	}
	return cmp.Or(r.now().Y.Label, r.title)
}

// spots records dots: those of the newest line of their color, or of a series without a line.
func (r *recorder) spots(m spots) {
	clr, opacity := hex(m.color)
	v := r.now()
	for _, s := range slices.Backward(v.Series) {
		if s.Color != clr {
			continue
		}
		s.Radius = float64(m.radius)
		if s.Width == 0 {
			s.all = append(s.all, m.points)
		}
		return
	}
	name := r.title
	for _, e := range r.legend {
		if c, _ := hex(e.color); c == clr {
			name = oneLine(e.name)
		}
	}
	v.Series = append(v.Series, &seriesView{Name: name, Color: clr, Opacity: opacity, Radius: float64(m.radius), all: [][]point{m.points}})
}

// band records a range.
func (r *recorder) band(m band) {
	c := color.NRGBAModel.Convert(m.color).(color.NRGBA)
	r.parts = append(r.parts, rangePart{c, m.intervals})
}

// area records the area below a line.
func (r *recorder) area(m area) {
	clr, opacity := hex(m.color)
	r.fills[clr] = opacity
}

func hexOf(c color.Color) string {
	name, opacity := hex(c)
	return fmt.Sprint(name, opacity)
}

// csv returns all points of all curves: the panel, the curve, and x and y with all their digits.
func (v view) csv() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	exact := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	_ = w.Write([]string{"panel", "series", "x", "y"}) // a strings.Builder returns no errors
	for _, p := range v.Panels {
		title := cmp.Or(p.Y.Label, p.Title)
		for _, s := range p.Series {
			for _, part := range s.all {
				for _, q := range part {
					_ = w.Write([]string{title, s.Name, exact(q.x), exact(q.y)})
				}
			}
		}
	}
	w.Flush()
	return b.String()
}
