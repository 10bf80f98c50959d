package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// matrix is a body of colored cells with a name for each row and column and, where it fits,
// text in each cell.
type matrix struct {
	rows, columns      int
	rowNames, colNames []string
	rowTitle, colTitle string
	cell               func(row, column int) cell
	ground             color.Color // background of cells without a fill; may be nil
	allOrNoText        bool        // show the text of the cells only if it fits in all of them
}

// cell is one cell: a fill, which may be nil, and text in a color.
type cell struct {
	fill  color.Color
	label string
	ink   color.Color
}

// Sizes around the cells, in points.
const (
	titleSize     = vg.Length(13) // height of the title of the columns
	rowTitleSize  = vg.Length(15)
	nameLine      = vg.Length(13) // height of a horizontal column name
	maxNameHeight = vg.Length(80) // height of a vertical column name
	mostRowName   = vg.Length(150)
)

// nameStyle returns the text style of row and column names.
func nameStyle() text.Style { return textStyle(sizeSmall, ink(.85)) }

// rowNameWidth returns the width of the row names.
func (m matrix) rowNameWidth() (width vg.Length) {
	style := nameStyle()
	for _, name := range m.rowNames {
		width = max(width, style.Width(fitted(style, name, mostRowName)))
	}
	return width
}

// left returns the width to the left of the cells.
func (m matrix) left() (width vg.Length) {
	if m.rowTitle != "" {
		width += rowTitleSize
	}
	if names := m.rowNameWidth(); names > 0 {
		width += names + 5
	}
	return width
}

// above returns the height above cells of a width, and whether the column names are vertical
// because they are wider than the cells.
func (m matrix) above(width vg.Length) (height vg.Length, upwards bool) {
	height = 2
	if m.colTitle != "" {
		height += titleSize
	}
	if len(m.colNames) == 0 {
		return height, false
	}
	names := widest(nameStyle(), m.colNames)
	if names+nameGap/2 <= width {
		return height + nameLine, false
	}
	return height + min(names, maxNameHeight) + 6, true
}

// size returns the size of a figure with cells of a side, in CSS pixels. Cells are wider if the
// column names need it and all of them fit within most.
func (m matrix) size(side, most float64) (width, height float64) {
	cells := side * float64(m.columns)
	if names := float64(widest(nameStyle(), m.colNames)+nameGap) * 4 / 3 * float64(m.columns); names <= most {
		cells = max(cells, names)
	}
	above, _ := m.above(vg.Length(cells/float64(max(m.columns, 1))) * 3 / 4)
	const header = 52 // title, subtitle and borders
	return math.Ceil(cells + float64(m.left()+2*margin)*4/3), math.Ceil(side*float64(m.rows) + float64(above)*4/3 + header)
}

func (m matrix) draw(c draw.Canvas) {
	if m.rows == 0 || m.columns == 0 {
		centeredAt(c, textStyle(sizeText, ink(.5)), c.Center(), "no data")
		return
	}
	left := c.Min.X + m.left()
	width := (c.Max.X - left) / vg.Length(m.columns)
	above, upwards := m.above(width)
	height := (c.Max.Y - above - c.Min.Y) / vg.Length(m.rows)
	height = min(width, height)
	if !upwards {
		width = min(width, max(height, widest(nameStyle(), m.colNames)+nameGap))
	} else {
		width = min(width, height)
	}
	if !(width > 0) || !(height > 0) {
		return // too small for the names
	}
	top := c.Max.Y - above
	m.names(c, left, top, width, height, upwards)
	m.fills(c, left, top, width, height)
	m.label(c, left, top, width, height)
}

// fills draws the cells; all cells of one color are one path.
func (m matrix) fills(c draw.Canvas, left, top, width, height vg.Length) {
	gap := min(vg.Length(1), width*.1, height*.1)
	if m.ground != nil {
		c.FillPolygon(m.ground, rectangle(left, top-height*vg.Length(m.rows), width*vg.Length(m.columns), height*vg.Length(m.rows)))
	}
	var colors []color.Color
	paths := map[color.Color]vg.Path{}
	for i := range m.rows {
		for j := range m.columns {
			fill := m.cell(i, j).fill
			if fill == nil {
				continue
			}
			path, known := paths[fill]
			if !known {
				colors = append(colors, fill)
			}
			x, y := left+width*vg.Length(j), top-height*vg.Length(i+1)
			for k, corner := range rectangle(x+gap/2, y+gap/2, width-gap, height-gap) {
				if k == 0 {
					path.Move(corner)
				} else {
					path.Line(corner)
				}
			}
			path.Close()
			paths[fill] = path
		}
	}
	for _, color := range colors {
		c.SetColor(color)
		c.Fill(paths[color])
	}
}

// label writes the text of the cells where it fits.
func (m matrix) label(c draw.Canvas, left, top, width, height vg.Length) {
	style := textStyle(min(sizeSmall, float64(height)*.7), ink(.85))
	if height < 7 {
		return
	}
	fits := func(label string) bool { return style.Width(label) <= width-2 }
	if m.allOrNoText {
		for i := range m.rows {
			for j := range m.columns {
				if !fits(m.cell(i, j).label) {
					return
				}
			}
		}
	}
	for i := range m.rows {
		for j := range m.columns {
			if e := m.cell(i, j); e.label != "" && fits(e.label) {
				style.Color = e.ink
				centeredAt(c, style, vg.Point{X: left + width*(vg.Length(j)+.5), Y: top - height*(vg.Length(i)+.5)}, e.label)
			}
		}
	}
}

// nameGap is the space between column names.
const nameGap = vg.Length(4)

// widest returns the width of the widest of the texts.
func widest(style text.Style, label []string) (width vg.Length) {
	for _, w := range label {
		width = max(width, style.Width(oneLine(w)))
	}
	return width
}

// names writes titles and names around the cells. It skips some names if cells are smaller than
// letters.
func (m matrix) names(c draw.Canvas, left, top, width, height vg.Length, upwards bool) {
	title, style := textStyle(sizeSmall, ink(.6)), nameStyle()
	if m.colTitle != "" {
		c.FillText(title, vg.Point{X: left, Y: c.Max.Y - 10}, m.colTitle)
	}
	if m.rowTitle != "" {
		// Rotated text runs upwards, so its end is at the top.
		title.Rotation, title.XAlign = quarter, draw.XRight
		c.FillText(title, vg.Point{X: c.Min.X + 8, Y: top}, m.rowTitle)
	}
	const line = 9 // space that a name needs
	every := 1
	for height*vg.Length(every) < line {
		every++
	}
	style.XAlign, style.YAlign = draw.XRight, draw.YCenter
	room := m.rowNameWidth() + .1
	for i := 0; i < min(len(m.rowNames), m.rows); i += every {
		c.FillText(style, vg.Point{X: left - 5, Y: top - height*(vg.Length(i)+.5)}, fitted(style, m.rowNames[i], room))
	}
	every = 1
	for width*vg.Length(every) < line {
		every++
	}
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	if upwards {
		style.Rotation, style.XAlign, style.YAlign = quarter, draw.XLeft, draw.YCenter
	}
	for i := 0; i < min(len(m.colNames), m.columns); i += every {
		at := vg.Point{X: left + width*(vg.Length(i)+.5), Y: top + 3}
		if upwards {
			c.FillText(style, at, fitted(style, m.colNames[i], maxNameHeight))
		} else {
			c.FillText(style, at, fitted(style, m.colNames[i], width*vg.Length(every)-nameGap/2))
		}
	}
}

// quarter is a quarter turn in radians.
const quarter = 1.5707963267948966
