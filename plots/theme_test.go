package plots

import (
	"image/color"
	"math"
	"strconv"
	"testing"
)

// TestInksCanBeRead wants the contrast that WCAG 2.2 asks of small text (1.4.3), on
// the paper of each theme.
func TestInksCanBeRead(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct{ ink, paper string }{
		{inkLight, paperLight}, {inkDark, paperDark}, {wrongLight, paperLight}, {wrongDark, paperDark},
	} {
		if got := contrast(luminance(t, pair.ink), luminance(t, pair.paper)); got < 4.5 {
			t.Errorf("%s on %s has a contrast of %.2f, want at least 4.5", pair.ink, pair.paper, got)
		}
	}
	if got := "#" + strconv.FormatInt(int64(wrong.R)<<16|int64(wrong.G)<<8|int64(wrong.B), 16); got != wrongLight {
		t.Errorf("the PNG has %s, the SVG %s", got, wrongLight)
	}
}

// contrast is the ratio of two relative luminances.
func contrast(a, b float64) float64 { return (max(a, b) + .05) / (min(a, b) + .05) }

// luminance is the relative one of a colour such as #111 or #1b1e23.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 4 {
		hex = string([]byte{'#', hex[1], hex[1], hex[2], hex[2], hex[3], hex[3]})
	}
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	c := color.NRGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n)}
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= .04045 {
			return x / 12.92
		}
		return math.Pow((x+.055)/1.055, 2.4)
	}
	return .2126*linear(c.R) + .7152*linear(c.G) + .0722*linear(c.B)
}
