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
	c := linearRGB(color.NRGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n)})
	return .2126*c[0] + .7152*c[1] + .0722*c[2]
}

// TestLinesCanBeTold computes that each color of the palette has a contrast of 3 to the backgrounds of both themes
// and of Visual Studio Code (WCAG 2.2, 1.4.11), and that any two differ for all readers: by 0.059 in Oklab (Björn
// Ottosson, 2020), where black and white differ by 1. The matrices are those of Machado, Oliveira and Fernandes
// (2009) for readers who lack one kind of cones.
func TestLinesCanBeTold(t *testing.T) {
	t.Parallel()
	readers := map[string][3][3]float64{
		"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia":   {{.152286, 1.052583, -.204868}, {.114503, .786281, .099216}, {-.003882, -.048116, 1.051998}},
		"deuteranopia": {{.367322, .860646, -.227968}, {.280085, .672501, .047413}, {-.011820, .042940, .968881}},
		"tritanopia":   {{1.255528, -.076749, -.178779}, {-.078411, .930809, .147602}, {.004733, .691367, .303900}},
	}
	hex := func(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
	for i, c := range palette {
		for _, background := range []string{paperLight, paperDark, "#1e1e1e"} {
			if got := contrast(luminance(t, hex(c)), luminance(t, background)); got < 3 {
				t.Errorf("%s on %s has a contrast of %.2f, want at least 3", hex(c), background, got)
			}
		}
		for reader, see := range readers {
			for _, other := range palette[:i] {
				if got := distance(oklab(times(see, linearRGB(c))), oklab(times(see, linearRGB(other)))); got < .059 {
					t.Errorf("%s and %s differ by %.3f with %s, want at least 0.059", hex(c), hex(other), got, reader)
				}
			}
		}
	}
}

func linearRGB(c color.NRGBA) (rgb [3]float64) {
	for i, v := range []uint8{c.R, c.G, c.B} {
		if x := float64(v) / 255; x <= .04045 {
			rgb[i] = x / 12.92
		} else {
			rgb[i] = math.Pow((x+.055)/1.055, 2.4)
		}
	}
	return rgb
}

func times(m [3][3]float64, v [3]float64) (p [3]float64) {
	for i, row := range m {
		for k, x := range row {
			p[i] += x * v[k]
		}
	}
	return p
}

// oklab converts linear sRGB, which is limited to what a screen shows.
func oklab(rgb [3]float64) [3]float64 {
	for i, v := range rgb {
		rgb[i] = min(max(v, 0), 1)
	}
	cones := times([3][3]float64{{.4122214708, .5363325363, .0514459929}, {.2119034982, .6806995451, .1073969566}, {.0883024619, .2817188376, .6299787005}}, rgb)
	for i, v := range cones {
		cones[i] = math.Cbrt(v)
	}
	return times([3][3]float64{{.2104542553, .7936177850, -.0040720468}, {1.9779984951, -2.4285922050, .4505937099}, {.0259040371, .7827717662, -.8086757660}}, cones)
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
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
