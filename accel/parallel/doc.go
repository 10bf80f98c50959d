// Package parallel joins processes, on one machine or on many, that train one
// model together: each has a rank, counted from 0, and computes with a part of the
// examples.
//
//	group, err := parallel.Join(ctx)
//	…
//	defer group.Close()
//	run, err := accel.Fit(ctx, model, train, accel.DataParallel(group))
//
// [Join] reads from the environment where a process stands: from the variables that
// torchrun, Kubeflow's training operator, mpirun or Slurm's srun set for what they
// start ([FromEnvironment] says which). A process that is started by hand, without
// any of them, is a group of one, and the program goes on unchanged.
//
// A loop of one's own divides the batches with data.Shard and adds up the gradients
// with [Gradients]. What is underneath, [Group.AllReduce], [Group.Broadcast],
// [Group.AllGather] and [Group.Barrier], is there for anything else.
//
// # How ranks meet
//
// Rank 0 listens at an address that all know. The others dial it, prove that they
// know the secret of the run, and are told where the others are. Then each rank is
// connected with the next one, in a ring, through which numbers go, and with rank 0,
// which watches who lives.
//
// Connections are encrypted with TLS 1.3, so that nobody between two ranks can read or
// change numbers; who has no secret cannot take a rank's place. Ranks of one machine that
// were given no secret authenticate each frame, and encrypt nothing. Ranks on several
// machines need a secret, [Secret]; those of one machine use one that each user has in a
// file, and listen on the loopback interface alone. What NCCL sends between GPUs is
// NCCL's own, and not encrypted.
//
// # Collectives
//
// Every rank calls the same collectives in the same order with as many numbers; a
// group notices when that is not so. The result is the same bit for bit on all
// ranks, and from run to run with as many of them.
//
// # Errors
//
// A rank that dies, or whose machine is not heard of any more, makes every
// collective of the others fail within seconds with a [*LostError] that names it. A
// collective that fails, or whose context is done, leaves the group broken: every
// later one gives the same error, and the ranks may [Join] anew.
//
// # Concurrency
//
// A group may be used by several goroutines, whose collectives come one after the
// other; it is for the caller that they come in the same order on all ranks.
package parallel
