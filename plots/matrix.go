package plots

import (
	"image/color"

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
	square             bool // the cells, but where the names of columns are wider
	cell               func(row, column int) cell
}

// cell is one cell: a fill, which may be nil, and words in a colour.
type cell struct {
	fill  color.Color
	words string
	ink   color.Color
}

func (m matrix) draw(c draw.Canvas) {
	if m.rows == 0 || m.columns == 0 {
		centredAt(c, textStyle(sizeText, ink(.5)), c.Center(), "no data")
		return
	}
	style := textStyle(sizeSmall, ink(.85))
	var nameWidth vg.Length
	for _, name := range m.rowNames {
		nameWidth = max(nameWidth, style.Width(fitted(style, name, (c.Max.X-c.Min.X)*.35)))
	}
	left := c.Min.X
	if m.rowTitle != "" {
		left += 15
	}
	if nameWidth > 0 {
		left += nameWidth + 5
	}
	top := c.Max.Y - 2
	if m.colTitle != "" {
		top -= 13
	}
	if len(m.colNames) > 0 {
		top -= 13
	}
	width := (c.Max.X - left) / vg.Length(m.columns)
	height := (top - c.Min.Y) / vg.Length(m.rows)
	if m.square {
		height = min(width, height)
		width = min(width, max(height, widest(style, m.colNames)+nameGap))
	}
	if !(width > 0) || !(height > 0) {
		return // the figure is too small for its names
	}
	m.names(c, style, left, top, nameWidth, width, height)

	gap := min(vg.Length(1), width*.1, height*.1)
	words := textStyle(min(sizeSmall, float64(height)*.7), ink(.85))
	for i := range m.rows {
		for j := range m.columns {
			e := m.cell(i, j)
			x, y := left+width*vg.Length(j), top-height*vg.Length(i+1)
			if e.fill != nil {
				c.FillPolygon(e.fill, rectangle(x+gap/2, y+gap/2, width-gap, height-gap))
			}
			if e.words != "" && float64(height) >= 7 && words.Width(e.words) <= width-2 {
				words.Color = e.ink
				centredAt(c, words, vg.Point{X: x + width/2, Y: y + height/2}, e.words)
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
func (m matrix) names(c draw.Canvas, style text.Style, left, top, nameWidth, width, height vg.Length) {
	title := textStyle(sizeSmall, ink(.6))
	if m.colTitle != "" {
		y := top + 3
		if len(m.colNames) > 0 {
			y += 13
		}
		c.FillText(title, vg.Point{X: left, Y: y}, m.colTitle)
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
	for i := 0; i < min(len(m.rowNames), m.rows); i += every {
		c.FillText(style, vg.Point{X: left - 5, Y: top - height*(vg.Length(i)+.5)}, fitted(style, m.rowNames[i], nameWidth+.1))
	}
	every = 1
	for width*vg.Length(every) < line+3 {
		every++
	}
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	for i := 0; i < min(len(m.colNames), m.columns); i += every {
		c.FillText(style, vg.Point{X: left + width*(vg.Length(i)+.5), Y: top + 3}, fitted(style, m.colNames[i], width*vg.Length(every)-nameGap/2))
	}
}

// quarter is a quarter of a turn.
const quarter = 1.5707963267948966
