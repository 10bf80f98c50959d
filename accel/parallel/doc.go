// Package parallel connects processes, on one machine or several, for data-parallel training of
// one model: each process has a rank, counted from 0, and computes with a part of the examples.
//
//	group, err := parallel.Join(ctx)
//	…
//	defer group.Close()
//	run, err := accel.Fit(ctx, model, train, accel.DataParallel(group))
//
// [Join] reads the rank from the environment: from the variables that torchrun, Kubeflow
// Trainer, mpirun or Slurm's srun set for the processes that they start (see
// [FromEnvironment]). The command quern submit starts a notebook in this way on a cluster. A process started by hand, without such variables, is a group of one, and
// the program works unchanged.
//
// A custom training loop divides the batches with data.Shard and reduces the gradients with
// [Gradients]. The underlying collectives [Group.AllReduce], [Group.Broadcast],
// [Group.AllGather] and [Group.Barrier] can be used for anything else.
//
// # Meshes
//
// A model that is too large for one rank is divided between several: [Mesh] arranges the ranks of
// a group along three dimensions, for data, tensor and pipeline parallelism, with a sub-group
// along each. [Distribute] divides a model among them: the state of the optimizer, gradients and
// parameters among the replicas (ZeRO, shard.go; between GPUs shard_device.go), layers among the ranks along TP
// (tensorparallel.go, vocabulary.go), and the modules of an nn.Sequential among the stages along PP (pipeline.go, tied.go).
// [DistributedModel.Save] writes a checkpoint that any mesh, nn.Load, and other libraries read.
//
// # How ranks connect
//
// Rank 0 listens at an address that all ranks know. The others dial it, prove that they know
// the secret of the run, and receive the addresses of all ranks. Then each rank is connected to
// the next one in a ring, which carries the data, and to rank 0, which detects lost ranks.
//
// Connections are encrypted with TLS 1.3, so nobody between two ranks can read or change data,
// and nobody without the secret can join. Ranks on one machine without an explicit secret
// authenticate each frame but do not encrypt. Ranks on several machines need a secret, see
// [Secret]; those on one machine use one from a file of the user, and listen only on the
// loopback interface. Traffic of NCCL between GPUs, and of [MPI], is not encrypted.
//
// # Collectives
//
// Every rank must call the same collectives in the same order with the same number of values;
// the group detects differences. Results are bit-identical on all ranks, and reproducible with
// the same number of ranks.
//
// # Errors
//
// If a rank dies or its machine stops responding, every collective of the others fails within
// seconds with a [*LostError] that names it. After a collective has failed or its context is
// done, the group is broken: all later collectives return the same error, and the ranks can
// [Join] again. [Elastic] does so by itself, with the ranks that are left or have come.
//
// # Concurrency
//
// Several goroutines can use a group; their collectives run one after the other. The caller
// must ensure that the order is the same on all ranks.
package parallel
