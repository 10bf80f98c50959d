package data

import (
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // to be read
	_ "image/jpeg" // to be read
	_ "image/png"  // to be read
	"os"
	"path/filepath"
	"slices"
	"strings"

	scale "golang.org/x/image/draw"
)

// Images makes a set of a folder with a subfolder for each class, named after
// it, that holds pictures in PNG, JPEG or GIF format. They are scaled to height
// × width by bilinear interpolation and have shape [3, height, width], or [1,
// height, width] where all of them are grey; numbers are from 0 to 1. Classes
// and files are in the order of their names; files with other extensions, and
// those whose names begin with a dot, are left out.
//
// All pictures are decoded at once and kept as bytes.
func Images(folder string, height, width int) (*Set, error) {
	if height < 1 || width < 1 || height > 1<<15 || width > 1<<15 {
		return nil, fmt.Errorf("data: images of %d × %d pixels", height, width)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	var (
		classes []string
		labels  []byte
		rgb     []byte
		grey    = true
	)
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		files, err := os.ReadDir(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
		for _, f := range files {
			if !pictureFile(f.Name()) {
				continue
			}
			picture, onlyGrey, err := decodePicture(filepath.Join(folder, e.Name(), f.Name()), height, width)
			if err != nil {
				return nil, err
			}
			rgb, labels = append(rgb, picture...), append(labels, byte(len(classes)))
			grey = grey && onlyGrey
		}
		classes = append(classes, e.Name())
	}
	switch {
	case len(labels) == 0:
		return nil, fmt.Errorf("data: %s has no subfolders with PNG, JPEG or GIF files", folder)
	case len(classes) > 256:
		return nil, fmt.Errorf("data: %s has %d classes; at most 256 can be read", folder, len(classes))
	}
	channels, size := 3, height*width
	if grey {
		channels = 1
		for i := range labels {
			copy(rgb[i*size:(i+1)*size], rgb[3*i*size:(3*i+1)*size])
		}
		rgb = slices.Clip(rgb[:len(labels)*size])
	}
	return &Set{
		name: folder, shape: []int{channels, height, width}, classes: classes,
		source: newPixels(channels*size, rgb, labels, 255),
	}, nil
}

func pictureFile(name string) bool {
	extension := strings.ToLower(filepath.Ext(name))
	return !strings.HasPrefix(name, ".") && slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif"}, extension)
}

// decodePicture is a picture as bytes, channels first, and whether it is grey.
func decodePicture(path string, height, width int) (planes []byte, grey bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	source, _, err := image.Decode(f)
	if err != nil {
		return nil, false, &FormatError{Format: "image", Path: path, Want: "a picture in PNG, JPEG or GIF format", Got: err.Error()}
	}
	if source.Bounds().Empty() {
		return nil, false, errors.New("data: " + path + " has no pixels")
	}
	scaled := image.NewRGBA(image.Rect(0, 0, width, height))
	scale.BiLinear.Scale(scaled, scaled.Bounds(), source, source.Bounds(), scale.Src, nil)
	planes = make([]byte, 3*height*width)
	grey = true
	for i := range height * width {
		r, g, b := scaled.Pix[4*i], scaled.Pix[4*i+1], scaled.Pix[4*i+2]
		planes[i], planes[height*width+i], planes[2*height*width+i] = r, g, b
		grey = grey && r == g && g == b
	}
	return planes, grey, nil
}
