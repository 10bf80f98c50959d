package data

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the digits
	"encoding/csv"
	"fmt"
	"sort"
	"strconv"
	"sync"
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
	byClass := make([]int, all.Len())
	for i := range byClass {
		byClass[i] = i
	}
	sort.SliceStable(byClass, func(a, b int) bool { return all.Label(byClass[a]) < all.Label(byClass[b]) })
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
