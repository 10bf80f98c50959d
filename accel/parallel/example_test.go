package parallel_test

import (
	"context"
	"fmt"
	"log"
	"sync"

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

// A mesh of 2 replicas, each of which is divided between 2 ranks. Real programs make the group with
// Join, in each process.
func ExampleMesh() {
	ctx := context.Background()
	ranks, err := parallel.Local(ctx, 4)
	if err != nil {
		log.Fatal(err)
	}
	var running sync.WaitGroup
	sums := make([]float32, len(ranks))
	for r, group := range ranks {
		running.Go(func() {
			mesh, err := parallel.Mesh(ctx, group, 2, 2, 1)
			if err != nil {
				log.Fatal(err)
			}
			values := []float32{float32(r), 0, 0, 0}
			part, err := mesh.DP.ReduceScatter(ctx, values, parallel.Sum)
			if err != nil {
				log.Fatal(err)
			}
			if from, _ := mesh.DP.Chunk(len(values)); from == 0 {
				sums[r] = part[0]
			}
			if err := mesh.Close(); err != nil {
				log.Fatal(err)
			}
		})
	}
	running.Wait()
	fmt.Println(sums)
	shape := parallel.MeshShape{DP: 2, TP: 2, PP: 1}
	fmt.Println(shape, shape.Coordinate(3), shape.Rank(parallel.Coordinate{DP: 1}))
	// Output:
	// [2 4 0 0]
	// dp 2 × tp 2 × pp 1 {1 1 0} 2
}
