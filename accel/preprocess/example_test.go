package preprocess_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/quernlab/quern/accel/frame"
	"github.com/quernlab/quern/accel/preprocess"
)

func Example() {
	file := "age,class,survived\n20,first,yes\n40,second,no\n,first,yes\n60,third,no\n"
	passengers, err := frame.ReadCSV(strings.NewReader(file)) // of a file: frame.CSV("titanic.csv")
	if err != nil {
		log.Fatal(err)
	}
	t, err := preprocess.Fit(passengers, preprocess.Class("survived"),
		preprocess.Numbers("age").Impute(preprocess.Median),
		preprocess.Categories("class"))
	if err != nil {
		log.Fatal(err)
	}
	set, err := t.Dataset(passengers)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.Columns(), set.Classes())
	fmt.Println(set.Example(2), set.Classes()[set.Label(2)])
	// Output:
	// [age class=first class=second class=third] [no yes]
	// [0 1 0 0] yes
}

func ExampleScale() {
	fmt.Println(preprocess.Scale([]float64{1, 2, 3, 4, 5}))
	fmt.Println(preprocess.Scale([]float64{0.1, 0.1, 0.1}))
	// Output:
	// 3 1.4142135623730951
	// 0.1 1
}
