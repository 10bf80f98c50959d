package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"maps"
	"slices"

	xdraw "golang.org/x/image/draw"
)

// Times of frames in hundredths of a second.
const (
	frameTime = 25
	lastTime  = 400
)

// animate returns a GIF of the images, each below head. Frames after the first contain only what changes.
func animate(head image.Image, images []image.Image) ([]byte, error) {
	images = slices.Clone(images)
	var bounds image.Rectangle
	for _, m := range images {
		bounds = bounds.Union(m.Bounds())
	}
	for i, m := range images {
		// The last figure has no progress bar at its top, so the bottoms coincide.
		whole := image.NewRGBA(image.Rect(0, 0, max(bounds.Dx(), head.Bounds().Dx()), head.Bounds().Dy()+bounds.Dy()))
		draw.Draw(whole, whole.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(whole, head.Bounds(), head, head.Bounds().Min, draw.Src)
		draw.Draw(whole, m.Bounds().Add(image.Pt(0, whole.Rect.Dy()-m.Bounds().Dy())), m, m.Bounds().Min, draw.Over)
		images[i] = halve(whole)
	}
	bounds = images[0].Bounds()
	colors := palette(images[len(images)-1])
	animation := &gif.GIF{Config: image.Config{ColorModel: colors, Width: bounds.Dx(), Height: bounds.Dy()}}
	var previous *image.Paletted
	for _, m := range images {
		frame := image.NewPaletted(bounds, colors)
		draw.Draw(frame, bounds, m, bounds.Min, draw.Src)
		part := frame
		if previous != nil {
			part = frame.SubImage(changed(previous, frame)).(*image.Paletted) //nolint:forcetypeassert // always the same type
		}
		animation.Image = append(animation.Image, part)
		animation.Delay = append(animation.Delay, frameTime)
		animation.Disposal = append(animation.Disposal, gif.DisposalNone)
		previous = frame
	}
	animation.Delay[len(animation.Delay)-1] = lastTime
	var b bytes.Buffer
	err := gif.EncodeAll(&b, animation)
	return b.Bytes(), err
}

// halve returns an image of half the width and height: figures have two pixels for each point,
// which is not worth four times the bytes here.
func halve(m image.Image) image.Image {
	b := m.Bounds()
	half := image.NewRGBA(image.Rect(0, 0, b.Dx()/2, b.Dy()/2))
	xdraw.ApproxBiLinear.Scale(half, half.Rect, m, b, xdraw.Src, nil)
	return half
}

// palette returns the most frequent colors of an image, without those that look like a more
// frequent one. Figures have few colors, and many shades of them at the edges of lines and letters.
func palette(m image.Image) color.Palette {
	counts := map[color.RGBA]int{}
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			counts[color.RGBAModel.Convert(m.At(x, y)).(color.RGBA)]++ //nolint:forcetypeassert // the model's type
		}
	}
	order := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A))
	})
	colors := color.Palette{color.White}
	for _, c := range order {
		if len(colors) < 128 && !slices.ContainsFunc(colors, func(other color.Color) bool { return similar(c, other) }) {
			colors = append(colors, c)
		}
	}
	return colors
}

func similar(a, b color.Color) bool {
	const least = 8                                                                          // of 255, in one of the channels
	x, y := color.RGBAModel.Convert(a).(color.RGBA), color.RGBAModel.Convert(b).(color.RGBA) //nolint:forcetypeassert // the model's type
	return max(difference(x.R, y.R), difference(x.G, y.G), difference(x.B, y.B)) < least
}

func difference(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

// changed returns the smallest rectangle that contains all pixels that differ. It has at least
// one pixel, since a frame of a GIF cannot be empty.
func changed(a, b *image.Paletted) image.Rectangle {
	var r image.Rectangle
	for y := a.Rect.Min.Y; y < a.Rect.Max.Y; y++ {
		for x := a.Rect.Min.X; x < a.Rect.Max.X; x++ {
			if a.ColorIndexAt(x, y) != b.ColorIndexAt(x, y) {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if r.Empty() {
		r = image.Rectangle{Min: a.Rect.Min, Max: a.Rect.Min.Add(image.Pt(1, 1))}
	}
	return r
}
