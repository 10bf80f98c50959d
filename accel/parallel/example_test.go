package parallel_test

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel/parallel"
)

// A program that no launcher started is a group of one and needs no other code.
func ExampleJoin() {
	ctx := context.Background()
	group, err := parallel.Join(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer group.Close()
	fmt.Println("rank", group.Rank(), "of", group.Size())
	// Output: rank 0 of 1
}

// Local runs the ranks in one process, for tests.
func ExampleLocal() {
	ctx := context.Background()
	ranks, err := parallel.Local(ctx, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error)
	for _, rank := range ranks {
		go func() {
			numbers := []float32{1, float32(rank.Rank())}
			err := rank.AllReduce(ctx, numbers, parallel.Sum)
			if rank.Rank() == 0 {
				fmt.Println(numbers)
			}
			done <- err
		}()
	}
	for range ranks {
		if err := <-done; err != nil {
			fmt.Println(err)
		}
	}
	for _, rank := range ranks {
		rank.Close()
	}
	// Output: [2 1]
}
