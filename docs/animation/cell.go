package main

import (
	_ "embed"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

//go:embed main.go
var program string

// cell returns the code that the animation shows: the lines of train between two comments.
func cell() (string, error) {
	_, rest, begins := strings.Cut(program, "\t// The cell:\n")
	code, _, ends := strings.Cut(rest, "\t// The end of the cell.\n")
	if !begins || !ends {
		return "", errors.New("train has no comments that enclose the cell")
	}
	var lines []string
	for line := range strings.Lines(code) {
		lines = append(lines, strings.ReplaceAll(strings.TrimPrefix(strings.TrimRight(line, "\n"), "\t"), "\t", "    "))
	}
	return strings.Join(lines, "\n"), nil
}

// Sizes in pixels, of which figures have two for each point.
const (
	fontSize   = 24
	lineHeight = 34
	margin     = 24 // around the cell and between its border and the code
	prompt     = 90 // width of the brackets with the number, left of the cell
)

var (
	background = color.RGBA{247, 247, 247, 255}
	border     = color.RGBA{208, 208, 208, 255}
	ink        = color.RGBA{33, 33, 33, 255}
	keyword    = color.RGBA{48, 63, 159, 255} // of the brackets
)

// drawCell draws code as a cell of a notebook with a width.
func drawCell(code string, width int) (image.Image, error) {
	parsed, err := opentype.Parse(gomono.TTF)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: fontSize, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, err
	}
	defer face.Close()
	lines := strings.Split(code, "\n")
	m := image.NewRGBA(image.Rect(0, 0, width, len(lines)*lineHeight+4*margin))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	box := image.Rect(prompt, margin, width-margin, m.Rect.Max.Y-margin)
	draw.Draw(m, box, image.NewUniform(border), image.Point{}, draw.Src)
	draw.Draw(m, box.Inset(2), image.NewUniform(background), image.Point{}, draw.Src)
	write := func(x, line int, c color.Color, text string) {
		d := font.Drawer{Dst: m, Src: image.NewUniform(c), Face: face, Dot: fixed.P(x, 2*margin+line*lineHeight+fontSize)}
		d.DrawString(text)
	}
	write(margin, 0, keyword, "[1]:")
	for i, line := range lines {
		write(prompt+margin, i, ink, line)
	}
	return m, nil
}
