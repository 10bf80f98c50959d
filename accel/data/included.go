package data

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed" // for the digits
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/quernlab/quern/accel/download"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/display"
)

//go:embed digits/digits.csv.gz
var digitsFile []byte

// Digits returns the handwritten digits of the UCI repository: 1797 gray images of shape [1 8
// 8] in ten classes. They are embedded in the program and need no file.
//
// The split is fixed: the examples are sorted by class, in the order of the file within a
// class, and every fifth one, starting with the first, is in the test set. That gives 1437
// training and 360 test examples with the same class frequencies. The same people wrote digits
// in both sets.
//
// Pixels are scaled from 0 … 16 to [0, 1]. An error means that the program file is damaged.
func Digits() (train, test *Dataset, err error) {
	all, err := digits()
	if err != nil {
		return nil, nil, err
	}
	byClass := identity(all.Len())
	slices.SortStableFunc(byClass, func(a, b int) int { return all.Label(a) - all.Label(b) })
	testing := make([]bool, all.Len())
	for k := 0; k < len(byClass); k += 5 {
		testing[byClass[k]] = true
	}
	var trainIndex, testIndex []int
	for i := range all.Len() {
		if testing[i] {
			testIndex = append(testIndex, i)
		} else {
			trainIndex = append(trainIndex, i)
		}
	}
	return all.pick(trainIndex).Named("digits, train"), all.pick(testIndex).Named("digits, test"), nil
}

// digits is the whole data set, decoded at the first call.
var digits = sync.OnceValues(func() (*Dataset, error) {
	s, err := parseDigits(digitsFile)
	if err != nil {
		return nil, fmt.Errorf("data: the embedded digits: %w", err)
	}
	return s, nil
})

func parseDigits(compressed []byte) (*Dataset, error) {
	const side, highest, classes = 8, 16, 10
	unzip, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	lines := csv.NewReader(unzip)
	lines.FieldsPerRecord = side*side + 1
	rows, err := lines.ReadAll()
	if err != nil {
		return nil, err
	}
	var images, labels []byte
	for n, row := range rows {
		for column, field := range row {
			limit := highest
			if column == side*side {
				limit = classes - 1
			}
			v, err := strconv.Atoi(field)
			if err != nil || v < 0 || v > limit {
				return nil, fmt.Errorf("line %d, column %d: %q is not a whole number from 0 to %d", n+1, column+1, field, limit)
			}
			if column == side*side {
				labels = append(labels, byte(v))
			} else {
				images = append(images, byte(v))
			}
		}
	}
	return &Dataset{
		name:    "digits",
		shape:   []int{1, side, side},
		classes: numberedClasses(classes),
		source:  newPixels(side*side, images, labels, highest),
	}, nil
}

// FashionMNIST returns Zalando's data set of articles of clothing: 60 000 gray training images
// of shape [1 28 28] and 10 000 test images in ten classes. Pixels are scaled from 0 … 255 to
// [0, 1].
//
// It needs the four files of https://github.com/zalandoresearch/fashion-mnist, compressed or
// not. It searches them in the folder named by the environment variable QUERN_DATA (or its
// subfolder fashion-mnist), in quern/fashion-mnist of the user's cache folder, and in
// /usr/share/datasets/fashion-mnist, where Debian's package dataset-fashion-mnist installs
// them. If none has them, it downloads them to the cache folder, about 30 MB. The content of
// every file is verified with its SHA-256; a difference is a [*FormatError].
//
// [OpenFashionMNIST] accepts a context and a folder.
func FashionMNIST() (train, test *Dataset, err error) {
	return OpenFashionMNIST(context.Background(), "")
}

// OpenFashionMNIST is FashionMNIST with a context that can cancel the download, and with the folder
// of the files. If a folder is given, it searches only there and downloads nothing; "" means the
// folders that FashionMNIST searches.
func OpenFashionMNIST(ctx context.Context, folder string) (train, test *Dataset, err error) {
	if err := interrupt.RequireContext(ctx, "data: OpenFashionMNIST"); err != nil {
		return nil, nil, err
	}
	c := fashionCollection()
	if folder != "" {
		c = collection{files: fashionFiles, folders: []string{folder}}
	}
	return loadFashion(ctx, c)
}

const fashionAddress = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"

var fashionClasses = []string{
	"T-shirt/top", "trouser", "pullover", "dress", "coat",
	"sandal", "shirt", "sneaker", "bag", "ankle boot",
}

// fashionFiles have the SHA-256 of the uncompressed content, because the compressed files
// differ between distributors.
var fashionFiles = []file{
	{"train-images-idx3-ubyte", "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888", []int{60000, 28, 28}},
	{"train-labels-idx1-ubyte", "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9", []int{60000}},
	{"t10k-images-idx3-ubyte", "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b", []int{10000, 28, 28}},
	{"t10k-labels-idx1-ubyte", "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34", []int{10000}},
}

// fashionCollection returns the folders to search and the one for downloads.
func fashionCollection() collection {
	const name = "fashion-mnist"
	c := collection{files: fashionFiles}
	if folder := os.Getenv("QUERN_DATA"); folder != "" {
		c.folders = append(c.folders, folder, filepath.Join(folder, name))
	}
	if cache, err := os.UserCacheDir(); err == nil {
		c.cache = filepath.Join(cache, "quern", name)
		c.folders = append(c.folders, c.cache)
	}
	c.folders = append(c.folders, "/usr/share/datasets/"+name)
	c.address = fashionAddress
	return c
}

func loadFashion(ctx context.Context, c collection) (train, test *Dataset, err error) {
	arrays := make([]*IDX, len(c.files))
	folder, err := c.find()
	if errors.Is(err, fs.ErrNotExist) && c.address != "" && c.cache != "" {
		folder, err = c.cache, c.download(ctx)
		if err != nil {
			err = fmt.Errorf("data: Fashion-MNIST was not found in %s, and the download failed: %w; "+
				"install Debian's dataset-fashion-mnist, or set QUERN_DATA to a folder with the files of "+
				"https://github.com/zalandoresearch/fashion-mnist", strings.Join(c.folders, ", "), err)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2) // load the two large files concurrently, but not more, to limit memory
	for i, f := range c.files {
		group.Go(func() (err error) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			arrays[i], err = f.read(folder)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	return fashionSet("train", arrays[0], arrays[1]), fashionSet("test", arrays[2], arrays[3]), nil
}

func fashionSet(part string, images, labels *IDX) *Dataset {
	return &Dataset{
		name:    "Fashion-MNIST, " + part,
		shape:   []int{1, 28, 28},
		classes: fashionClasses,
		source:  newPixels(28*28, images.Data, labels.Data, 255),
	}
}

// file is one IDX file of a published data set.
type file struct {
	name   string
	sha256 string // hex SHA-256 of the uncompressed content
	shape  []int
}

// locate returns the path of the file in a folder, compressed or not.
func (f file) locate(folder string) (string, error) {
	var first error
	for _, path := range []string{filepath.Join(folder, f.name+".gz"), filepath.Join(folder, f.name)} {
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// read decodes and verifies the file in a folder.
func (f file) read(folder string) (*IDX, error) {
	path, err := f.locate(folder)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	content, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	defer content.Close()
	a, err := f.decode(content, strings.HasSuffix(path, ".gz"))
	if _, ok := errors.AsType[*FormatError](err); !ok && err != nil {
		err = fmt.Errorf("data: %s: %w", path, err)
	}
	return a, inFile(err, path)
}

// decode reads the array and verifies the SHA-256 of its content.
func (f file) decode(r io.Reader, compressed bool) (*IDX, error) {
	if compressed {
		unzip, err := gzip.NewReader(r)
		if err != nil {
			return nil, &FormatError{Format: "gzip", Want: "a gzip file", Got: err.Error()}
		}
		r = unzip
	}
	sum := sha256.New()
	a, err := readIDX(io.TeeReader(r, sum), func(shape []int) error {
		if !slices.Equal(shape, f.shape) {
			return &FormatError{Format: "IDX", Want: fmt.Sprintf("shape %v", f.shape), Got: fmt.Sprint(shape)}
		}
		return nil
	})
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || isCorruptDeflate(err) {
		return nil, &FormatError{Format: "gzip", Want: "undamaged gzip data", Got: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.sha256 {
		return nil, &FormatError{Format: "IDX", Want: "content with SHA-256 " + f.sha256, Got: got + "; delete the file to download it again"}
	}
	return a, nil
}

// verify verifies a downloaded file.
func (f file) verify(compressed io.Reader) error {
	_, err := f.decode(compressed, true)
	return err
}

// collection describes where the files of a published data set may be.
type collection struct {
	files   []file
	folders []string // searched in this order
	cache   string   // folder for downloads; "" if none
	address string   // URL of the folder, ending in "/"
	options []download.Option
}

// find returns the first folder that has all the files. The error wraps fs.ErrNotExist if none
// has them.
func (c collection) find() (string, error) {
	for _, folder := range c.folders {
		missing := 0
		for _, f := range c.files {
			if _, err := f.locate(folder); errors.Is(err, fs.ErrNotExist) {
				missing++
			} else if err != nil {
				return "", fmt.Errorf("data: %w", err)
			}
		}
		if missing == 0 {
			return folder, nil
		}
	}
	return "", fmt.Errorf("data: %s was not found in %v: %w", c.files[0].name, c.folders, fs.ErrNotExist)
}

// download downloads the missing files to the cache folder.
func (c collection) download(ctx context.Context) error {
	for _, f := range c.files {
		if _, err := f.locate(c.cache); err == nil {
			continue
		}
		name := f.name + ".gz"
		options := append([]download.Option{download.Check(f.verify), download.MaxSize(maxDownload)}, c.options...)
		if err := download.Get(ctx, c.address+name, filepath.Join(c.cache, name), options...); err != nil {
			return err
		}
	}
	return nil
}

// maxDownload is larger than any file of the data sets.
const maxDownload = 256 << 20

// isCorruptDeflate reports whether an error means that compressed data are corrupt.
func isCorruptDeflate(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.As(err, &corrupt) || errors.Is(err, io.ErrUnexpectedEOF)
}

// progressReader is a reader that reports to the progress bar of its file.
type progressReader struct{ io.Reader }

// withProgress displays the progress of reading r in a bar, unless r is already metered. The size may
// be unknown. The caller ends the meter, which may be nil.
func withProgress(r io.Reader, label string, bytes int64) (io.Reader, *display.Meter) {
	if _, ok := r.(progressReader); ok {
		return r, nil
	}
	meter := display.NewMeter(label, float64(max(bytes, 0))/1e6)
	return progressReader{meter.Reader(r)}, meter
}
