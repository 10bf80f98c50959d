package frame_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/quernlab/quern/accel/frame"
)

func sales() *frame.Frame {
	return frame.New(
		frame.Texts("city", "Lima", "Oslo", "Lima", "Rome"),
		frame.Ints("sold", 3, 8, 5, 2),
		frame.Floats("price", 2.5, 4, 2, 3),
	)
}

func ExampleReadCSV() {
	german := "Ort;Preis\nKöln;3,50\nUlm;k.A.\n"
	f, err := frame.ReadCSV(strings.NewReader(german), frame.Separator(';'), frame.DecimalComma(), frame.Missing("k.A."))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Column("Preis").Floats()[0], f.Column("Preis").CountMissing())
	// Output: 3.5 1
}

func ExampleFrame_Filter() {
	many := sales().Filter(func(r frame.Row) bool { return r.Int("sold") > 2 && r.Text("city") != "Oslo" })
	fmt.Println(many.Column("sold").Ints())
	// Output: [3 5]
}

// The second key orders rows whose first key is equal.
func ExampleFrame_Sort() {
	f := sales().Sort(frame.Ascending("city"), frame.Descending("sold"))
	fmt.Println(f.Column("city").Texts(), f.Column("sold").Ints())
	// Output: [Lima Lima Oslo Rome] [5 3 8 2]
}

func ExampleFrame_GroupBy() {
	f := sales().GroupBy("city").Aggregate(frame.Count(), frame.Sum("sold").As("sold"))
	fmt.Println(f)
	// Output:
	//    city  count  sold
	//    text  int    int
	// 0  Lima  2      8
	// 1  Oslo  1      8
	// 2  Rome  1      2
	// 3 rows × 3 columns
}

func ExampleGroups_Frames() {
	for _, group := range sales().GroupBy("city").Frames() {
		fmt.Println(group.Column("city").Texts()[0], group.Len())
	}
	// Output:
	// Lima 2
	// Oslo 1
	// Rome 1
}

// Reduce makes a statistic of your own.
func ExampleReduce() {
	spread := frame.Reduce("range", "sold", func(values []float64) float64 {
		low, high := values[0], values[0]
		for _, v := range values {
			low, high = min(low, v), max(high, v)
		}
		return high - low
	})
	fmt.Println(sales().Aggregate(spread.As("spread")).Column("spread").Floats())
	// Output: [6]
}

func ExampleFrame_WithFloat() {
	f := sales().WithFloat("revenue", func(r frame.Row) float64 { return float64(r.Int("sold")) * r.Float("price") })
	fmt.Println(f.Column("revenue").Floats())
	// Output: [7.5 32 10 6]
}

func ExampleFrame_CountValues() {
	fmt.Println(sales().CountValues("city"))
	// Output:
	//    city  count
	//    text  int
	// 0  Lima  2
	// 1  Oslo  1
	// 2  Rome  1
	// 3 rows × 2 columns
}

func ExampleFrame_Rows() {
	for r := range sales().Head(2).Rows() {
		fmt.Println(r.Index(), r.Text("city"), r.Int("sold"))
	}
	// Output:
	// 0 Lima 3
	// 1 Oslo 8
}

func ExampleFrame_Select() {
	f := sales().Select("price", "city").Rename("price", "euro")
	fmt.Println(f.Columns())
	// Output: [euro city]
}

func ExampleFrame_FillMissing() {
	f, err := frame.ReadCSV(strings.NewReader("age\n20\n\"\"\n40\n"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.FillMissing("age", 30).Column("age").Ints(), f.DropMissing("age").Len())
	// Output: [20 30 40] 2
}

// Three quarters of the rows, chosen at random, are in the first frame. The same seed divides them in
// the same way.
func ExampleFrame_RandomSplit() {
	train, test := sales().RandomSplit(0.75, 1)
	again, _ := sales().RandomSplit(0.75, 1)
	fmt.Println(train.Len(), test.Len(), train.String() == again.String())
	// Output: 3 1 true
}

func ExampleFrame_Append() {
	fmt.Println(sales().Append(sales().Tail(1)).Column("city").Texts())
	// Output: [Lima Oslo Lima Rome Rome]
}

func ExampleFrame_FormatCSV() {
	if err := sales().Head(2).FormatCSV(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// city,sold,price
	// Lima,3,2.5
	// Oslo,8,4
}

func ExampleReadJSONLines() {
	f, err := frame.ReadJSONLines(strings.NewReader("{\"name\": \"Ada\", \"age\": 36}\n{\"name\": \"Bo\"}\n"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Column("name").Texts(), f.Column("age").CountMissing())
	// Output: [Ada Bo] 1
}

// A model needs all numbers, so a file without one is an error.
func ExampleRequired() {
	_, err := frame.ReadCSV(strings.NewReader("length,kind\n1.5,rose\n,tulip\n"), frame.Required(frame.Text, "kind"), frame.Required(frame.Float))
	fmt.Println(err)
	// Output: frame: CSV, line 3, column "length": want a value; fill it in, or leave out the line, got ""
}
