package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// matrix is a body of coloured cells with a name for each row and column and,
// where there is room, words in each cell.
type matrix struct {
	rows, columns      int
	rowNames, colNames []string
	rowTitle, colTitle string
	cell               func(row, column int) cell
	ground             color.Color // of all cells without a fill of their own; may be nil
	allWords           bool        // no cell has words unless there is room for those of all
}

// cell is one cell: a fill, which may be nil, and words in a colour.
type cell struct {
	fill  color.Color
	words string
	ink   color.Color
}

// Sizes around the cells, in points.
const (
	titleSize    = vg.Length(13) // height of the title of the columns
	rowTitleSize = vg.Length(15)
	nameLine     = vg.Length(13) // height of a name of a column, written level
	mostUpright  = vg.Length(80) // of a name of a column, written upwards
	mostRowName  = vg.Length(150)
)

// nameStyle is that of the names of rows and columns.
func nameStyle() text.Style { return textStyle(sizeSmall, ink(.85)) }

// rowNameWidth is the width that the names of rows have.
func (m matrix) rowNameWidth() (width vg.Length) {
	style := nameStyle()
	for _, name := range m.rowNames {
		width = max(width, style.Width(fitted(style, name, mostRowName)))
	}
	return width
}

// left is the width of what stands on the left of the cells.
func (m matrix) left() (width vg.Length) {
	if m.rowTitle != "" {
		width += rowTitleSize
	}
	if names := m.rowNameWidth(); names > 0 {
		width += names + 5
	}
	return width
}

// above is the height of what stands above cells of a width, and whether the names of the
// columns are written upwards there since they are wider than the cells.
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
	return height + min(names, mostUpright) + 6, true
}

// size is that of a figure with cells of a side, in CSS pixels. Cells are wider where the
// names of columns need it, if all of them fit within most.
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
		centredAt(c, textStyle(sizeText, ink(.5)), c.Center(), "no data")
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
		return // the figure is too small for its names
	}
	top := c.Max.Y - above
	m.names(c, left, top, width, height, upwards)
	m.fills(c, left, top, width, height)
	m.words(c, left, top, width, height)
}

// fills draws the cells, all those of one colour as one path.
func (m matrix) fills(c draw.Canvas, left, top, width, height vg.Length) {
	gap := min(vg.Length(1), width*.1, height*.1)
	if m.ground != nil {
		c.FillPolygon(m.ground, rectangle(left, top-height*vg.Length(m.rows), width*vg.Length(m.columns), height*vg.Length(m.rows)))
	}
	var colours []color.Color
	paths := map[color.Color]vg.Path{}
	for i := range m.rows {
		for j := range m.columns {
			fill := m.cell(i, j).fill
			if fill == nil {
				continue
			}
			path, known := paths[fill]
			if !known {
				colours = append(colours, fill)
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
	for _, colour := range colours {
		c.SetColor(colour)
		c.Fill(paths[colour])
	}
}

// words writes what is in the cells, where there is room.
func (m matrix) words(c draw.Canvas, left, top, width, height vg.Length) {
	style := textStyle(min(sizeSmall, float64(height)*.7), ink(.85))
	if height < 7 {
		return
	}
	fits := func(words string) bool { return style.Width(words) <= width-2 }
	if m.allWords {
		for i := range m.rows {
			for j := range m.columns {
				if !fits(m.cell(i, j).words) {
					return
				}
			}
		}
	}
	for i := range m.rows {
		for j := range m.columns {
			if e := m.cell(i, j); e.words != "" && fits(e.words) {
				style.Color = e.ink
				centredAt(c, style, vg.Point{X: left + width*(vg.Length(j)+.5), Y: top - height*(vg.Length(i)+.5)}, e.words)
			}
		}
	}
}

// nameGap is the space between the names of columns.
const nameGap = vg.Length(4)

// widest is the width of the widest of some words.
func widest(style text.Style, words []string) (width vg.Length) {
	for _, w := range words {
		width = max(width, style.Width(oneLine(w)))
	}
	return width
}

// names writes titles and names around the cells, skipping names where cells
// are smaller than letters.
func (m matrix) names(c draw.Canvas, left, top, width, height vg.Length, upwards bool) {
	title, style := textStyle(sizeSmall, ink(.6)), nameStyle()
	if m.colTitle != "" {
		c.FillText(title, vg.Point{X: left, Y: c.Max.Y - 10}, m.colTitle)
	}
	if m.rowTitle != "" {
		// Rotated text reads upwards, so its end is at the top.
		title.Rotation, title.XAlign = quarter, draw.XRight
		c.FillText(title, vg.Point{X: c.Min.X + 8, Y: top}, m.rowTitle)
	}
	const line = 9 // that a name needs
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
			c.FillText(style, at, fitted(style, m.colNames[i], mostUpright))
		} else {
			c.FillText(style, at, fitted(style, m.colNames[i], width*vg.Length(every)-nameGap/2))
		}
	}
}

// quarter is a quarter of a turn.
const quarter = 1.5707963267948966
