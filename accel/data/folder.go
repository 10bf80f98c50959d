package data

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/display"
)

// Images reads a folder with a subfolder for each class, named after it, that contains images
// in PNG, JPEG, GIF, WebP, BMP or TIFF format, also in subfolders of its own. The images are scaled to
// height × width by bilinear interpolation and have shape [3, height, width], or [1, height, width] if
// all of them are gray; values are from 0 to 1. Classes and files are sorted by name, so [Dataset.Split]
// would divide them by class: use [Dataset.StratifiedSplit]. Files with other extensions, and hidden
// files, are ignored. A class without images is a [*FormatError]. [Dataset.Path] returns the file of an
// example.
//
// As torchvision's ImageFolder, Images ignores transparency and the orientation that a camera has noted
// (EXIF). Images of 16 bits are scaled to 8, which PIL limits to 255 instead.
//
// All images are decoded immediately and stored as bytes; [OpenImages] decodes them when batches
// need them. A file whose header declares more pixels than the file can contain, or more than 2^27,
// is a [*FormatError], and no memory is allocated for it.
func Images(folder string, height, width int) (*Dataset, error) {
	found, err := findImages(folder, height, width)
	if err != nil {
		return nil, err
	}
	var rgb, labels []byte
	gray := true
	if len(found.classes) > 256 {
		return nil, fmt.Errorf("data: %s has %d classes; at most 256 can be read: use OpenImages", folder, len(found.classes))
	}
	err = eachImage(folder, len(found.files), func(i int) error {
		planes, onlyGray, err := decodeImageFile(found.files[i], height, width)
		rgb, labels = append(rgb, planes...), append(labels, byte(found.labels[i]))
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
		name: folder, shape: []int{channels, height, width}, classes: found.classes,
		source: &imagePixels{newPixels(channels*size, rgb, labels, 255), found.files},
	}, nil
}

// eachImage calls read for each of n files of a folder and displays a progress bar if that takes
// long.
func eachImage(folder string, n int, read func(i int) error) error {
	meter := display.NewMeter("reading "+filepath.Base(folder), float64(n))
	defer meter.End()
	for i := range n {
		if err := read(i); err != nil {
			return err
		}
		meter.Set(float64(i+1), "images")
	}
	return nil
}

// imagePixels are decoded files.
type imagePixels struct {
	*pixels
	files []string
}

func (p *imagePixels) path(i int) string { return p.files[i] }

// OpenImages is [Images] for folders that may be larger than memory: it reads only the names of
// the files, and the workers of [Batches] decode a file when a batch needs it. The shape is always
// [3, height, width]. [Dataset.Cached] keeps decoded images in a part of the memory:
//
//	photos, err := data.OpenImages("photos", 128, 128)
//	…
//	photos, err = photos.Cached(1 << 30)
//
// A file that cannot be decoded ends the iteration with an [*ExampleError] that wraps a
// [*FormatError].
func OpenImages(folder string, height, width int) (*Dataset, error) {
	found, err := findImages(folder, height, width)
	if err != nil {
		return nil, err
	}
	return &Dataset{name: folder, shape: []int{3, height, width}, classes: found.classes, source: found}, nil
}

// imageFiles is a source that decodes the files of a folder.
type imageFiles struct {
	labeling
	height, width int
	classes       []string
	files         []string
	labels        []int
}

func (f *imageFiles) len() int          { return len(f.files) }
func (f *imageFiles) path(i int) string { return f.files[i] }
func (f *imageFiles) highest() float32  { return 255 }

func (f *imageFiles) read(i int, v values) error {
	v.setLabel(f.labels[i])
	if v.x == nil {
		return nil
	}
	planes := make([]byte, len(v.x))
	if err := f.bytes(i, planes); err != nil {
		return err
	}
	divide(v.x, planes, f.highest())
	return nil
}

func (f *imageFiles) bytes(i int, dst []byte) error {
	planes, _, err := decodeImageFile(f.files[i], f.height, f.width)
	copy(dst, planes)
	return err
}

// findImages lists the images of a folder.
func findImages(folder string, height, width int) (*imageFiles, error) {
	if height < 1 || width < 1 || height > 1<<15 || width > 1<<15 {
		return nil, fmt.Errorf("data: Images: the size %d × %d must be positive", height, width)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	found := &imageFiles{height: height, width: width}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		class := filepath.Join(folder, e.Name())
		files, err := imagesBelow(class)
		if err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
		if len(files) == 0 {
			return nil, &FormatError{Format: "image folder", Path: class, Want: imageFormats + " files of the class; remove the folder if it is no class", Got: "none"}
		}
		found.files = append(found.files, files...)
		found.labels = append(found.labels, slices.Repeat([]int{len(found.classes)}, len(files))...)
		found.classes = append(found.classes, e.Name())
	}
	if len(found.files) == 0 {
		return nil, &FormatError{Format: "image folder", Path: folder, Want: "a subfolder for each class with " + imageFormats + " files", Got: "no subfolders"}
	}
	return found, nil
}

// imagesBelow lists the images in a folder and its subfolders, sorted by name, without hidden ones.
func imagesBelow(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch hidden := path != folder && strings.HasPrefix(e.Name(), "."); {
		case err != nil:
			return err
		case hidden && e.IsDir():
			return filepath.SkipDir
		case !e.IsDir() && isImageFile(e.Name()):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// OpenUnlabeledImages is [OpenImages] for images that nobody has labeled yet: it finds the files in
// PNG, JPEG, GIF, WebP, BMP or TIFF format in a folder and all its subfolders, sorted by name, whatever their names
// mean. Hidden files and folders are ignored. The classes are those that the images may have; their
// labels are unknown, see [Dataset.Unlabeled]. [Dataset.Path] returns the file of an example. A
// folder without images is a [*FormatError].
//
// A pool of package active asks for the labels that help most:
//
//	photos, err := data.OpenUnlabeledImages("photos", 128, 128, "cat", "dog")
//	pool, err := active.Resume("labels.jsonl", photos, 0, 1)
func OpenUnlabeledImages(folder string, height, width int, classes ...string) (*Dataset, error) {
	if height < 1 || width < 1 || height > 1<<15 || width > 1<<15 {
		return nil, fmt.Errorf("data: OpenUnlabeledImages: the size %d × %d must be positive", height, width)
	}
	if len(classes) < 2 {
		return nil, fmt.Errorf("data: OpenUnlabeledImages: name the classes, at least two, as in \"cat\", \"dog\"")
	}
	for i, name := range classes {
		if slices.Contains(classes[:i], name) {
			return nil, fmt.Errorf("data: OpenUnlabeledImages: the class %q is named twice", name)
		}
	}
	found := &unlabeledFiles{imageFiles{height: height, width: width, classes: slices.Clone(classes)}}
	var err error
	found.files, err = imagesBelow(folder)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if len(found.files) == 0 {
		return nil, &FormatError{Format: "image folder", Path: folder, Want: imageFormats + " files", Got: "none"}
	}
	found.labels = make([]int, len(found.files)) // never read
	return &Dataset{name: folder, shape: []int{3, height, width}, classes: found.classes, source: found}, nil
}

// unlabeledFiles are images whose classes are unknown.
type unlabeledFiles struct{ imageFiles }

func (*unlabeledFiles) form() form { return form{unlabeled: true} }
