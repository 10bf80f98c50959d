package parallel_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"sync"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
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

// A GPT on 8 GPUs: 2 replicas, in each of which 2 stages follow one another, whose layers are divided
// between 2 GPUs. The replicas divide the gradients and the state of the optimizer among themselves.
func ExampleDistribute() {
	ctx := context.Background()
	group, err := parallel.Join(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer group.Close()
	mesh, err := parallel.Mesh(ctx, group, 2, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer mesh.Close()
	block := func(int) nn.Module {
		return nn.Sequential(
			nn.Residual(nn.LayerNorm(), nn.SelfAttention(12, nn.Causal())),
			nn.Residual(nn.LayerNorm(), nn.Dense(3072), nn.GELU(), nn.Dense(768)),
		)
	}
	model := nn.Sequential(nn.Embedding(50257, 768), nn.PositionEmbedding(1024, 768), nn.Repeat(12, block), nn.LayerNorm(), nn.Dense(50257))
	tokens := train.Batches(1) // creates the parameters
	tokens.Next()
	model.Forward(tokens.Batch().X)
	shared, err := parallel.Distribute(ctx, mesh, model,
		parallel.SplitHeads("2.*.0.1"), parallel.Split("2.*.1.1", "2.*.1.3"),
		parallel.ZeRO(2), parallel.MicroBatches(8), parallel.StagesAt(13))
	if err != nil {
		log.Fatal(err)
	}
	opt := optim.AdamW(shared, 3e-4, optim.ClipGradNorm(1), optim.Group("*.bias", optim.WeightDecay(0)))
	if err := opt.Err(); err != nil {
		log.Fatal(err)
	}
	batches := train.Batches(64, data.Shard(mesh.DP.Rank(), mesh.DP.Size()))
	for batches.Next() {
		b := batches.Batch()
		opt.ZeroGrad()
		loss, err := shared.Backward(ctx, b.X, b.Y, nn.CrossEntropy, b.Share())
		if err != nil {
			log.Fatal(err)
		}
		opt.Step()
		if group.First() {
			fmt.Println(loss)
		}
	}
	if err := shared.Save(ctx, "gpt", opt); err != nil { // any mesh can Load it
		log.Fatal(err)
	}
}

var train *data.Dataset

func ExampleElastic() {
	l, err := net.Listen("tcp", "127.0.0.1:0") // finds a free port
	if err != nil {
		fmt.Println(err)
		return
	}
	at := parallel.At(parallel.RankInfo{Address: l.Addr().String()})
	_ = l.Close()
	// A group of at least one and at most one rank: this process.
	err = parallel.Elastic(context.Background(), 1, 1, func(ctx context.Context, group *parallel.Group) error {
		for step := range 3 {
			if group.Changing() { // all ranks have to agree on that: see AllReduce
				return parallel.ErrChanging
			}
			fmt.Println("step", step, "on", group)
		}
		return nil
	}, at, parallel.Secret("s"))
	fmt.Println(err)
	// Output:
	// step 0 on rank 0 of 1
	// step 1 on rank 0 of 1
	// step 2 on rank 0 of 1
	// <nil>
}
