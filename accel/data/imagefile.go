package data

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"  // to be read
	_ "image/jpeg" // to be read
	_ "image/png"  // to be read
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "golang.org/x/image/bmp" // to be read
	scale "golang.org/x/image/draw"
	_ "golang.org/x/image/tiff" // to be read
	_ "golang.org/x/image/webp" // to be read
)

// imageFormats are the formats of image files, in words.
const imageFormats = "PNG, JPEG, GIF, WebP, BMP or TIFF"

// isImageFile reports whether a file has the name of an image that can be read.
func isImageFile(name string) bool {
	extension := strings.ToLower(filepath.Ext(name))
	return !strings.HasPrefix(name, ".") && slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"}, extension)
}

// decodeImageFile returns an image file as bytes, channels first, and whether it is gray.
func decodeImageFile(path string, height, width int) (planes []byte, gray bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, fmt.Errorf("data: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, false, &FormatError{Format: "image", Path: path, Want: "a regular file", Got: info.Mode().Type().String()}
	}
	source, err := decodeImage(f, info.Size())
	var format *FormatError
	if errors.As(err, &format) {
		format.Path = path
	}
	if err != nil {
		return nil, false, err
	}
	planes, gray = resample(opaque(source), height, width)
	return planes, gray, nil
}

// Limits for image files.
const (
	maxPixels = 1 << 27

	// A byte of PNG expands to at most 1032 bytes, each with eight 1-bit pixels; a byte of GIF
	// or JPEG expands to less.
	pixelsPerByte = 8 * 1032
)

// decodeImage decodes a file. The decoders allocate what the header declares, so the header is
// checked first.
func decodeImage(r io.ReadSeeker, size int64) (image.Image, error) {
	wrong := func(want, format string, got ...any) error {
		return &FormatError{Format: "image", Want: want, Got: fmt.Sprintf(format, got...)}
	}
	const wanted = "an image in " + imageFormats + " format"
	config, _, err := image.DecodeConfig(r)
	if err != nil {
		return nil, wrong(wanted, "%v", err)
	}
	if config.Width < 1 || config.Height < 1 {
		return nil, wrong("an image with pixels", "%d × %d", config.Width, config.Height)
	}
	if most := min(maxPixels, size*pixelsPerByte); int64(config.Width) > most/int64(config.Height) {
		return nil, wrong(fmt.Sprintf("at most %d pixels in %d bytes", most, size), "%d × %d pixels", config.Width, config.Height)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("data: reading an image: %w", err)
	}
	source, _, err := image.Decode(r)
	if err != nil {
		return nil, wrong(wanted, "%v", err)
	}
	if source.Bounds().Empty() {
		return nil, wrong("an image with pixels", "none")
	}
	return source, nil
}

// opaque returns an image without its transparency: the pixels have the colors that the file has, also
// where nothing of them would be seen, as in PIL's convert("RGB"). It may change the image.
func opaque(source image.Image) image.Image {
	if o, ok := source.(interface{ Opaque() bool }); !ok || o.Opaque() {
		return source
	}
	switch s := source.(type) {
	case *image.NRGBA:
		for i := 3; i < len(s.Pix); i += 4 {
			s.Pix[i] = 0xff
		}
	case *image.NRGBA64:
		for i := 6; i+1 < len(s.Pix); i += 8 {
			s.Pix[i], s.Pix[i+1] = 0xff, 0xff
		}
	case *image.Paletted:
		for i, c := range s.Palette {
			seen := color.NRGBAModel.Convert(c).(color.NRGBA)
			seen.A = 0xff
			s.Palette[i] = seen
		}
	case *image.NYCbCrA:
		return &s.YCbCr
	}
	return source
}

// resample scales an image and separates its channels.
func resample(source image.Image, height, width int) (planes []byte, gray bool) {
	scaled := image.NewRGBA(image.Rect(0, 0, width, height))
	scale.BiLinear.Scale(scaled, scaled.Bounds(), source, source.Bounds(), scale.Src, nil)
	planes = make([]byte, 3*height*width)
	gray = true
	for i := range height * width {
		r, g, b := scaled.Pix[4*i], scaled.Pix[4*i+1], scaled.Pix[4*i+2]
		planes[i], planes[height*width+i], planes[2*height*width+i] = r, g, b
		gray = gray && r == g && g == b
	}
	return planes, gray
}
