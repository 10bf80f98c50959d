package plots

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestInksCanBeRead checks the contrast that WCAG 2.2 requires for small text (1.4.3), on
// the background of each theme.
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

// contrast returns the ratio of two relative luminances.
func contrast(a, b float64) float64 { return (max(a, b) + .05) / (min(a, b) + .05) }

// luminance returns the relative luminance of a color such as #111 or #1b1e23.
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

// The raw curve, the smoothed one and the background differ visibly in both themes.
func TestRawCurvesAreDistinct(t *testing.T) {
	hex := func(s string) [3]float64 {
		var c [3]uint8
		if _, err := fmt.Sscanf(s, "#%02x%02x%02x", &c[0], &c[1], &c[2]); err != nil {
			t.Fatal(err)
		}
		return [3]float64{float64(c[0]), float64(c[1]), float64(c[2])}
	}
	contrast := func(a, b [3]float64) float64 {
		brightness := func(c [3]float64) float64 {
			for i, v := range c {
				if v /= 255; v <= .04045 {
					c[i] = v / 12.92
				} else {
					c[i] = math.Pow((v+.055)/1.055, 2.4)
				}
			}
			return .2126*c[0] + .7152*c[1] + .0722*c[2] + .05
		}
		x, y := brightness(a), brightness(b)
		return max(x, y) / min(x, y)
	}
	for _, theme := range []struct{ paper, raw, smooth string }{
		{"#ffffff", faintStroke, smoothStroke}, {"#111111", faintDark, smoothDark},
	} {
		paper, raw := hex(theme.paper), hex(theme.raw)
		for i := range raw {
			raw[i] = opacityFaint*raw[i] + (1-opacityFaint)*paper[i]
		}
		if toPaper, toSmooth := contrast(raw, paper), contrast(raw, hex(theme.smooth)); toPaper < 1.7 || toSmooth < 2 {
			t.Errorf("on %s: raw against paper %.2f, against the smoothed curve %.2f", theme.paper, toPaper, toSmooth)
		}
	}
	losses := make([]float64, 200)
	for i := range losses {
		losses[i] = 2 + math.Sin(float64(i*i))
	}
	svg := Training(TrainingData{Loss: Series{Y: losses}}).SVG()
	if !strings.Contains(svg, `stroke="`+faintStroke+`"`) || !strings.Contains(svg, `[stroke="`+smoothStroke+`"]{stroke:`+smoothDark+"}") || !strings.Contains(svg, `stroke="`+smoothStroke+`"`) {
		t.Errorf("no rule for the dark theme: %.600s", svg)
	}
}
