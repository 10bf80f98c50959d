package plots

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"regexp"
	"testing"

	"github.com/quernlab/quern/internal/golden"
)

// pinned compares the SVG of a figure with testdata/name.svg, and draws the
// PNG. Look at the new file in a browser before you update it.
func pinned(t *testing.T, name string, f *Figure) {
	t.Helper()
	sane(t, f)
	golden.Check(t, name+".svg", withPixels(t, f.SVG()))
}

// withPixels replaces embedded PNG files by their pixels: releases of Go compress them differently.
func withPixels(t *testing.T, svg string) []byte {
	t.Helper()
	return embeddedPNG.ReplaceAllFunc([]byte(svg), func(uri []byte) []byte {
		data, err := base64.StdEncoding.DecodeString(string(embeddedPNG.FindSubmatch(uri)[1]))
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		pixels := image.NewNRGBA(m.Bounds())
		draw.Draw(pixels, pixels.Rect, m, m.Bounds().Min, draw.Src)
		return fmt.Appendf(nil, "pixels:%v:%x", pixels.Rect.Size(), pixels.Pix)
	})
}

var embeddedPNG = regexp.MustCompile(`data:image/png;base64,([A-Za-z0-9+/=]+)`)
