package data

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/display"
)

// Images reads a folder with a subfolder for each class, named after it, that contains images
// in PNG, JPEG or GIF format. The images are scaled to height × width by bilinear interpolation
// and have shape [3, height, width], or [1, height, width] if all of them are gray; values are
// from 0 to 1. Classes and files are sorted by name. Files with other extensions, and hidden
// files, are ignored.
//
// All images are decoded immediately and stored as bytes. A file whose header declares more
// pixels than the file can contain, or more than 2^27, is a [*FormatError], and no memory is
// allocated for it.
func Images(folder string, height, width int) (*Dataset, error) {
	if height < 1 || width < 1 || height > 1<<15 || width > 1<<15 {
		return nil, fmt.Errorf("data: Images: the size %d × %d must be positive", height, width)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	var (
		classes []string
		labels  []byte
		rgb     []byte
		gray    = true
		found   []imagePath
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
			if isImageFile(f.Name()) {
				found = append(found, imagePath{filepath.Join(folder, e.Name(), f.Name()), byte(len(classes))})
			}
		}
		classes = append(classes, e.Name())
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("data: %s has no subfolders with PNG, JPEG or GIF files", folder)
	case len(classes) > 256:
		return nil, fmt.Errorf("data: %s has %d classes; at most 256 can be read", folder, len(classes))
	}
	err = eachImage(folder, found, func(p imagePath) error {
		picture, onlyGray, err := decodeImageFile(p.path, height, width)
		rgb, labels = append(rgb, picture...), append(labels, p.class)
		gray = gray && onlyGray
		return err
	})
	if err != nil {
		return nil, err
	}
	channels, size := 3, height*width
	if gray {
		channels = 1
		for i := range labels {
			copy(rgb[i*size:(i+1)*size], rgb[3*i*size:(3*i+1)*size])
		}
		rgb = slices.Clip(rgb[:len(labels)*size])
	}
	return &Dataset{
		name: folder, shape: []int{channels, height, width}, classes: classes,
		source: newPixels(channels*size, rgb, labels, 255),
	}, nil
}

// eachImage calls read for each file of a folder and displays a progress bar if that takes long.
func eachImage(folder string, found []imagePath, read func(imagePath) error) error {
	meter := display.NewMeter("reading "+filepath.Base(folder), float64(len(found)))
	defer meter.End()
	for i, p := range found {
		if err := read(p); err != nil {
			return err
		}
		meter.Set(float64(i+1), "images")
	}
	return nil
}

// imagePath is an image file with its class.
type imagePath struct {
	path  string
	class byte
}

func isImageFile(name string) bool {
	extension := strings.ToLower(filepath.Ext(name))
	return !strings.HasPrefix(name, ".") && slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif"}, extension)
}
