package baseline_test

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel/baseline"
	"github.com/quernlab/quern/accel/data"
)

func ExampleCompare() {
	train, test, err := data.Digits()
	if err != nil {
		panic(err)
	}
	table, err := baseline.Compare(context.Background(), train, test, baseline.Majority(), baseline.Neighbors(3))
	if err != nil {
		panic(err)
	}
	for _, row := range table.Rows {
		fmt.Printf("%s: %.0f %%\n", row.Name, 100*row.Result.Accuracy())
	}
	// Output:
	// majority: 10 %
	// 3 nearest neighbors: 97 %
}
