package data

import (
	"fmt"
	"image"
	"image/color"
	_ "image/gif"  // to be read
	_ "image/jpeg" // to be read
	_ "image/png"  // to be read
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "golang.org/x/image/bmp" // to be read
	scale "golang.org/x/image/draw"
	_ "golang.org/x/image/tiff" // to be read
	_ "golang.org/x/image/webp" // to be read

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Image draws example i. A shape of [1 h w] or [h w] is a gray image and [3 h w] an RGB image,
// with 0 as black and 1 as white; other values are clipped. Any other shape is drawn as one row
// of gray pixels, scaled from the lowest to the highest value. It panics if i is not in [0,
// Len).
func (s *Dataset) Image(i int) image.Image {
	return draw(s.Example(i), s.shape)
}

func draw(numbers []float32, shape []int) image.Image {
	switch {
	case len(shape) == 3 && shape[0] == 3:
		return drawRGB(numbers, shape[1], shape[2])
	case len(shape) == 3 && shape[0] == 1:
		return drawGray(numbers, shape[1], shape[2], 0, 1)
	case len(shape) == 2:
		return drawGray(numbers, shape[0], shape[1], 0, 1)
	}
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, v := range numbers {
		low, high = min(low, v), max(high, v)
	}
	return drawGray(numbers, 1, len(numbers), low, high)
}

func drawGray(numbers []float32, height, width int, low, high float32) *image.Gray {
	m := image.NewGray(image.Rect(0, 0, width, height))
	for i, v := range numbers {
		m.Pix[i] = brightness(v, low, high)
	}
	return m
}

func drawRGB(numbers []float32, height, width int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	plane := height * width
	for i := range plane {
		m.SetRGBA(i%width, i/width, color.RGBA{
			R: brightness(numbers[i], 0, 1),
			G: brightness(numbers[plane+i], 0, 1),
			B: brightness(numbers[2*plane+i], 0, 1),
			A: 255,
		})
	}
	return m
}

// brightness maps low … high to 0 … 255; NaN is black.
func brightness(v, low, high float32) uint8 {
	t := (v - low) / (high - low)
	if !(t > 0) {
		return 0
	}
	return uint8(math.Round(float64(min(t, 1)) * 255))
}

// String describes the content of the data set in one line.
func (s *Dataset) String() string {
	return s.name + ": " + s.holds()
}

// holds describes the content of the data set.
func (s *Dataset) holds() string {
	text := fmt.Sprintf("%s examples of shape %v", display.Integer(s.Len()), s.Shape())
	if n := s.Targets(); n > 0 {
		return text + fmt.Sprintf(", %d targets each", n)
	}
	if s.SequenceLength() > 0 {
		return text + fmt.Sprintf(", a label of %d classes at each position", len(s.classes))
	}
	text += fmt.Sprintf(", %d classes", len(s.classes))
	if words := s.transformed(); words != "" {
		text += ", by " + words
	}
	return text
}

// Report returns the description of the data set and, for images, the first ones with their class names.
func (s *Dataset) Report() *display.Report {
	r := new(display.Report).Alt(s.String())
	if sheet := s.sheet(); sheet != nil {
		r.Figure(sheet)
	}
	return r
}

const (
	sheetImages = 20
	sheetSide   = 512 // maximum side in pixels of images that are shown
)

// sheet returns a figure of the first examples, or nil if they are not images of a suitable
// size.
func (s *Dataset) sheet() *plots.Figure {
	n := len(s.shape)
	if s.Len() == 0 || n < 2 || n > 3 || n == 3 && s.shape[0] != 1 && s.shape[0] != 3 {
		return nil
	}
	if height, width := s.shape[n-2], s.shape[n-1]; min(height, width) < 2 || max(height, width) > sheetSide {
		return nil
	}
	var images []image.Image
	var captions []string
	for i := range min(s.Len(), sheetImages) {
		images = append(images, s.Image(i))
		if s.Unlabeled() {
			continue
		}
		if c := s.Label(i); c >= 0 && c < len(s.classes) {
			captions = append(captions, s.classes[c])
		}
	}
	return plots.Images(images, captions...).Title(s.name).Subtitle(s.holds())
}

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
	if err != nil {
		return nil, false, inFile(err, path)
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

// opaque returns an image without its transparency: the pixels have the colors of the file, also
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
	height, width int
	classes       []string
	files         []string
	labels        []int // nil if they are unknown
}

func (f *imageFiles) len() int          { return len(f.files) }
func (f *imageFiles) path(i int) string { return f.files[i] }
func (f *imageFiles) form() form        { return form{unlabeled: f.labels == nil, highest: 255} }

func (f *imageFiles) read(i int, v values) error {
	if f.labels != nil {
		v.setLabel(f.labels[i])
	}
	if v.x == nil && v.bytes == nil {
		return nil
	}
	planes, _, err := decodeImageFile(f.files[i], f.height, f.width)
	if err != nil {
		return err
	}
	copy(v.bytes, planes)
	if v.x != nil {
		divide(v.x, planes, 255)
	}
	return nil
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
	found := &imageFiles{height: height, width: width, classes: slices.Clone(classes)}
	var err error
	found.files, err = imagesBelow(folder)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if len(found.files) == 0 {
		return nil, &FormatError{Format: "image folder", Path: folder, Want: imageFormats + " files", Got: "none"}
	}
	return &Dataset{name: folder, shape: []int{3, height, width}, classes: found.classes, source: found}, nil
}
