package data_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/quernlab/quern/accel/data"
)

// flowers is a data set of six examples in two classes.
func flowers() *data.Dataset {
	set, err := data.ReadCSV(strings.NewReader("length,width,kind\n1,2,rose\n2,3,rose\n3,1,tulip\n4,1,tulip\n5,2,rose\n6,3,rose\n"), "kind")
	if err != nil {
		log.Fatal(err)
	}
	return set
}

func ExampleReadCSV() {
	set := flowers()
	fmt.Println(set.Len(), set.Columns(), set.Classes(), set.Counts())
	fmt.Println(set.Example(2), set.Classes()[set.Label(2)])
	// Output:
	// 6 [length width] [rose tulip] [4 2]
	// [3 1] tulip
}

// Split keeps the order. Shuffle first, unless the order is that of time.
func ExampleDataset_Split() {
	train, test := flowers().Shuffled(1).Split(0.5)
	fmt.Println(train.Len(), test.Len())
	// Output: 3 3
}

// Both parts have the same share of each class.
func ExampleDataset_StratifiedSplit() {
	train, test, err := flowers().StratifiedSplit(0.5, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Counts(), test.Counts())
	// Output: [2 1] [2 1]
}

// Each example is in the validation set of one fold.
func ExampleDataset_KFold() {
	folds, err := flowers().KFold(3, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range folds {
		fmt.Println(f.Train.Len(), f.Validation.Len())
	}
	// Output:
	// 4 2
	// 4 2
	// 4 2
}

func ExampleDataset_Batches() {
	it := flowers().Batches(4)
	for it.Next() {
		b := it.Batch()
		fmt.Println(b.X.Shape(), b.Y.Ints())
	}
	fmt.Println(it.Err())
	// Output:
	// [4 2] [0 0 1 1]
	// [2 2] [0 0]
	// <nil>
}

func ExampleDataset_Subset() {
	tulips, err := flowers().Subset([]int{2, 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tulips.Counts())
	// Output: [0 2]
}

// With these weights, both classes are drawn equally often.
func ExampleDataset_BalancedWeights() {
	weights, err := flowers().BalancedWeights()
	fmt.Println(weights, err)
	// Output: [0.25 0.25 0.5 0.5 0.25 0.25] <nil>
}

// A normalized value is its distance from the mean, in standard deviations. Transforms are
// applied to batches.
func ExampleNormalize() {
	set, err := flowers().Map(data.Normalize(3, 2))
	if err != nil {
		log.Fatal(err)
	}
	it := set.Batches(2)
	it.Next()
	fmt.Println(set.Example(0), it.Batch().X.Data())
	// Output: [1 2] [-1 -0.5 -0.5 0]
}

// The label of each position is the next token.
func ExampleWindows() {
	set, err := data.Windows([]int{1, 2, 3, 4, 5}, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	b, err := set.Tensors()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.X.Data(), b.Y.Ints())
	// Output: [1 2 3 4] [2 3 4 5]
}

func ExampleChars() {
	v := data.Chars("banana")
	tokens, err := v.Encode("nab")
	fmt.Println(v.Size(), tokens, v.Decode(tokens), err)
	// Output: 3 [2 0 1] nab <nil>
}

// Two past values predict the next one.
func ExampleTimeSeries() {
	set, err := data.TimeSeries([][]float32{{10}, {20}, {30}, {40}}, 2, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.Len(), set.Example(1), set.Target(1))
	// Output: 2 [20 30] [40]
}

// Shorter sequences are padded, here with token 0, and batches know their lengths.
func ExampleSequences() {
	set, err := data.Sequences([][]int{{5, 6, 7}, {8}}, []int{0, 1}, 0)
	if err != nil {
		log.Fatal(err)
	}
	it := set.Batches(2)
	it.Next()
	fmt.Println(it.Batch().X.Data(), it.Batch().Lengths)
	// Output: [5 6 7 8 0 0] [3 1]
}
