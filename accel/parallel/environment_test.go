package parallel

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// environment looks up variables in a list of NAME=value pairs.
func environment(pairs string) func(string) (string, bool) {
	set := map[string]string{}
	for _, pair := range strings.Fields(pairs) {
		name, value, _ := strings.Cut(pair, "=")
		set[name] = value
	}
	return func(name string) (string, bool) { v, ok := set[name]; return v, ok }
}

func TestFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		name, environment string
		want              RankInfo
		wrong             string // part of the error
	}{
		{name: "nothing", want: RankInfo{Size: 1, LocalSize: 1}},
		{name: "addresses alone", environment: "MASTER_ADDR=a MASTER_PORT=1 LOCAL_RANK=0", want: RankInfo{Size: 1, LocalSize: 1}},
		{
			name: "torchrun", environment: "RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 MASTER_ADDR=node0 MASTER_PORT=29400 TORCHELASTIC_RUN_ID=r",
			want: RankInfo{Rank: 5, Size: 8, LocalRank: 1, LocalSize: 4, Address: "node0:29400", Run: "r", Launcher: "torchrun"},
		},
		{
			name: "torchrun's own store", environment: "RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=5 TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RUN_ID=r TORCHELASTIC_RESTART_COUNT=2",
			want: RankInfo{Rank: 1, Size: 2, LocalRank: 1, LocalSize: 2, Address: "h:0", Run: "r/2", Launcher: "torchrun", store: "h:5"},
		},
		{
			name: "PyTorchJob of Kubeflow", environment: "RANK=2 WORLD_SIZE=3 MASTER_ADDR=job-master-0 MASTER_PORT=23456 PET_NPROC_PER_NODE=1",
			want: RankInfo{Rank: 2, Size: 3, LocalRank: -1, Address: "job-master-0:23456", Launcher: "torchrun"},
		},
		{
			name: "%ranks in a notebook", environment: "RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=20001 QUERN_PARALLEL_LAUNCHER=%ranks",
			want: RankInfo{Rank: 1, Size: 2, LocalRank: 1, LocalSize: 2, Address: "127.0.0.1:20001", Launcher: "%ranks"},
		},
		{name: "one rank needs no address", environment: "RANK=0 WORLD_SIZE=1", want: RankInfo{Size: 1, LocalRank: -1, Launcher: "torchrun"}},
		{name: "IPv6", environment: "RANK=0 WORLD_SIZE=2 MASTER_ADDR=fd00::1 MASTER_PORT=7", want: RankInfo{Size: 2, LocalRank: -1, Address: "[fd00::1]:7", Launcher: "torchrun"}},
		{name: "no RANK", environment: "WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1", wrong: "torchrun: RANK is not set"},
		{name: "no WORLD_SIZE", environment: "RANK=0 MASTER_ADDR=a MASTER_PORT=1", wrong: "WORLD_SIZE is not set"},
		{name: "no MASTER_ADDR", environment: "RANK=0 WORLD_SIZE=2 MASTER_PORT=1", wrong: "MASTER_ADDR is not set"},
		{name: "no MASTER_PORT", environment: "RANK=0 WORLD_SIZE=2 MASTER_ADDR=a", wrong: "MASTER_PORT is not set"},
		{name: "no LOCAL_RANK", environment: "RANK=0 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1", wrong: "LOCAL_RANK is not set"},
		{name: "no number", environment: "RANK=first WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1", wrong: `RANK="first" is not a number`},
		{name: "rank too large", environment: "RANK=2 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1", wrong: "rank 2 of 2"},
		{name: "negative", environment: "RANK=-1 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1", wrong: "rank -1 of 2"},
		{name: "no ranks", environment: "RANK=0 WORLD_SIZE=0 MASTER_ADDR=a MASTER_PORT=1", wrong: "the number of ranks is 0"},
		{name: "local rank too large", environment: "RANK=0 WORLD_SIZE=2 LOCAL_RANK=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1", wrong: "local rank 2 of 2"},
		{name: "more here than in all", environment: "RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=1", wrong: "this machine has 4 ranks, but there are only 2"},
		{name: "no port", environment: "RANK=0 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=70000", wrong: "MASTER_PORT=70000 is not a port"},

		{
			name: "Open MPI on one machine", environment: "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_NAMESPACE=prterun-7",
			want: RankInfo{Rank: 1, Size: 4, LocalRank: 1, LocalSize: 4, Address: fmt.Sprint("127.0.0.1:", jobPort("prterun-7")), Run: "prterun-7", Launcher: "Open MPI"},
		},
		{
			name: "Open MPI on many machines", environment: "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 MASTER_ADDR=n0",
			want: RankInfo{Rank: 1, Size: 4, LocalRank: 1, LocalSize: 2, Address: "n0:29500", Launcher: "Open MPI"},
		},
		{name: "Open MPI without an address", environment: "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2", wrong: "set MASTER_ADDR"},
		{
			name: "Open MPI in a job of Slurm", environment: "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_NODELIST=n[3-4] SLURM_JOB_ID=31234",
			want: RankInfo{Rank: 3, Size: 4, LocalRank: 1, LocalSize: 2, Address: "n3:21234", Run: "31234", Launcher: "Open MPI"},
		},
		{
			name: "Kubeflow Trainer", environment: "PET_NNODES=2 PET_NPROC_PER_NODE=1 PET_NODE_RANK=1 PET_MASTER_ADDR=job-node-0-0.job PET_MASTER_PORT=29400 JOB_COMPLETION_INDEX=1",
			want: RankInfo{Rank: 1, Size: 2, LocalSize: 1, Address: "job-node-0-0.job:29400", Launcher: "Kubeflow Trainer"},
		},
		{name: "Kubeflow Trainer, several in each pod", environment: "PET_NNODES=2 PET_NPROC_PER_NODE=4 PET_NODE_RANK=0 PET_MASTER_ADDR=a", wrong: "PET_NPROC_PER_NODE=4 announces several processes in each pod: set numProcPerNode: 1"},
		{name: "Kubeflow Trainer without an address", environment: "PET_NNODES=2 PET_NODE_RANK=0", wrong: "Kubeflow Trainer: the address of rank 0 is unknown"},
		{name: "Kubeflow Trainer, some nodes", environment: "PET_NNODES=1:4 PET_NODE_RANK=0", wrong: `PET_NNODES="1:4" is not a number`},
		{name: "Kubeflow Trainer, several on a node", environment: "PET_NNODES=1 PET_NPROC_PER_NODE=4", wrong: "PET_NPROC_PER_NODE=4"},
		{name: "Kubeflow Trainer, the second node", environment: "PET_NODE_RANK=1", wrong: "PET_NNODES is not set"},
		{name: "Kubeflow Trainer with one node", environment: "PET_NNODES=1 PET_NPROC_PER_NODE=auto PET_NODE_RANK=0 PET_MASTER_ADDR=a", want: RankInfo{Size: 1, LocalSize: 1}},
		{name: "Kubeflow Trainer with torchrun", environment: "PET_NNODES=2 PET_NODE_RANK=1 RANK=1 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=5", want: RankInfo{Rank: 1, Size: 2, LocalRank: -1, Address: "a:5", Launcher: "torchrun"}},
		{name: "alone on purpose", environment: "PET_NNODES=2 RANK=0 WORLD_SIZE=1", want: RankInfo{Size: 1, LocalRank: -1, Launcher: "torchrun"}},
		{name: "LOCAL_RANK alone", environment: "LOCAL_RANK=1", wrong: "LOCAL_RANK=1"},
		{
			name: "MVAPICH", environment: "MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=4 MV2_COMM_WORLD_LOCAL_RANK=1 MV2_COMM_WORLD_LOCAL_SIZE=4",
			want: RankInfo{Rank: 1, Size: 4, LocalRank: 1, LocalSize: 4, Address: "127.0.0.1:29500", Launcher: "MVAPICH"},
		},
		{name: "MVAPICH without an address", environment: "MV2_COMM_WORLD_RANK=0 MV2_COMM_WORLD_SIZE=4", wrong: "MVAPICH: the address of rank 0 is unknown"},
		{
			name: "jsrun", environment: "JSM_NAMESPACE_RANK=0 JSM_NAMESPACE_SIZE=4 MASTER_ADDR=h1 LSB_JOBID=77",
			want: RankInfo{Size: 4, LocalRank: -1, Address: "h1:20077", Run: "77", Launcher: "jsrun"},
		},
		{
			name: "Flux", environment: "FLUX_TASK_RANK=3 FLUX_JOB_SIZE=4 FLUX_TASK_LOCAL_ID=1 MASTER_ADDR=h1 MASTER_PORT=9",
			want: RankInfo{Rank: 3, Size: 4, LocalRank: 1, Address: "h1:9", Launcher: "Flux"},
		},
		{name: "Horovod", environment: "HOROVOD_RANK=1 HOROVOD_SIZE=2", wrong: "HOROVOD_SIZE=2"},
		{name: "one of Horovod", environment: "HOROVOD_RANK=0 HOROVOD_SIZE=1", want: RankInfo{Size: 1, LocalSize: 1}},
		{
			name: "JAX, also as Kubeflow Trainer sets it", environment: "JAX_NUM_PROCESSES=2 JAX_PROCESS_ID=1 JAX_COORDINATOR_ADDRESS=job-node-0-0.job:29400",
			want: RankInfo{Rank: 1, Size: 2, LocalRank: -1, Address: "job-node-0-0.job:29400", Launcher: "JAX"},
		},
		{name: "JAX without an address", environment: "JAX_NUM_PROCESSES=2 JAX_PROCESS_ID=0", wrong: "JAX: the address of rank 0 is unknown"},
		{name: "JAX with half an address", environment: "JAX_NUM_PROCESSES=2 JAX_PROCESS_ID=0 JAX_COORDINATOR_ADDRESS=h", wrong: "JAX_COORDINATOR_ADDRESS=h: "},
		{name: "JAXJob of Kubeflow", environment: "NUM_PROCESSES=2 PROCESS_ID=0 COORDINATOR_ADDRESS=a", wrong: "NUM_PROCESSES=2"},
		{name: "Indexed Job", environment: "JOB_COMPLETION_INDEX=1", wrong: "Kubernetes (an Indexed Job or a JobSet): JOB_COMPLETION_INDEX=1"},
		{name: "first of an Indexed Job", environment: "JOB_COMPLETION_INDEX=0", want: RankInfo{Size: 1, LocalSize: 1}},
		{
			name: "JobSet of quern submit", environment: "JOB_COMPLETION_INDEX=1 RANK=1 WORLD_SIZE=2 MASTER_ADDR=nb-ranks-0-0.nb MASTER_PORT=29500",
			want: RankInfo{Rank: 1, Size: 2, LocalRank: -1, Address: "nb-ranks-0-0.nb:29500", Launcher: "torchrun"},
		},
		{name: "AWS Batch", environment: "AWS_BATCH_JOB_NUM_NODES=2 AWS_BATCH_JOB_NODE_INDEX=0", wrong: "AWS_BATCH_JOB_NUM_NODES=2"},
		{name: "PMIx alone", environment: "PMIX_RANK=1", wrong: "PMIX_RANK=1"},
		{name: "PALS", environment: "PALS_RANKID=1", wrong: "PALS_RANKID=1"},
		{name: "SageMaker", environment: `SM_HOSTS=["algo-1","algo-2"]`, wrong: `SM_HOSTS=["algo-1","algo-2"]`},
		{name: "one host of SageMaker", environment: `SM_HOSTS=["algo-1"]`, want: RankInfo{Size: 1, LocalSize: 1}},
		{name: "Volcano", environment: "VC_WORKER_HOSTS=a-0.a,a-1.a", wrong: "VC_WORKER_HOSTS"},
		{name: "a task of Volcano", environment: "VC_TASK_INDEX=1", wrong: "Volcano: VC_TASK_INDEX=1"},
		{name: "Slurm without the step", environment: "SLURM_PROCID=1 SLURM_NTASKS=2", wrong: "Slurm: SLURM_PROCID=1"},
		{name: "TensorFlow", environment: `TF_CONFIG={"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker","index":0}}`, wrong: "TF_CONFIG="},
		{name: "one of TensorFlow", environment: `TF_CONFIG={"cluster":{"chief":["a:1"]},"task":{"type":"chief","index":0}}`, want: RankInfo{Size: 1, LocalSize: 1}},
		{name: "Vertex AI", environment: `CLUSTER_SPEC={"cluster":{"workerpool0":["a:1"],"workerpool1":["b:1"]}}`, wrong: "CLUSTER_SPEC="},
		{name: "Open MPI by half", environment: "OMPI_COMM_WORLD_SIZE=4", wrong: "Open MPI: OMPI_COMM_WORLD_RANK is not set"},
		{
			name: "MPICH", environment: "PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2",
			want: RankInfo{Rank: 1, Size: 2, LocalRank: 1, LocalSize: 2, Address: "127.0.0.1:29500", Launcher: "MPICH"},
		},
		{name: "MPICH by half", environment: "PMI_RANK=1", wrong: "MPICH: PMI_SIZE is not set"},

		{
			name: "Slurm", environment: "SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_LOCALID=1 SLURM_NODELIST=gpu[07-08] SLURM_JOB_ID=123456 SLURM_STEP_ID=0",
			want: RankInfo{Rank: 5, Size: 8, LocalRank: 1, Address: "gpu07:23456", Run: "123456.0", Launcher: "Slurm"},
		},
		{
			name: "Slurm, several on a node", environment: "SLURM_PROCID=5 SLURM_STEP_NUM_TASKS=7 SLURM_LOCALID=1 SLURM_NODEID=2 SLURM_STEP_TASKS_PER_NODE=2(x3),1 SLURM_STEP_NODELIST=n[1-4] SLURM_JOB_ID=1 SLURM_STEP_ID=0",
			want: RankInfo{Rank: 5, Size: 7, LocalRank: 1, LocalSize: 2, Address: "n1:20001", Run: "1.0", Launcher: "Slurm"},
		},
		{
			name: "Slurm, the last node", environment: "SLURM_PROCID=6 SLURM_STEP_NUM_TASKS=7 SLURM_LOCALID=0 SLURM_NODEID=3 SLURM_STEP_TASKS_PER_NODE=2(x3),1 SLURM_STEP_NODELIST=n[1-4] SLURM_JOB_ID=1 SLURM_STEP_ID=0",
			want: RankInfo{Rank: 6, Size: 7, LocalRank: 0, LocalSize: 1, Address: "n1:20001", Run: "1.0", Launcher: "Slurm"},
		},
		{
			name: "Slurm, numbers of another step", environment: "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=1 SLURM_NODEID=0 SLURM_STEP_TASKS_PER_NODE=4(x2) SLURM_STEP_NODELIST=n[1-2] SLURM_JOB_ID=1 SLURM_STEP_ID=0",
			want: RankInfo{Rank: 1, Size: 2, LocalRank: 1, Address: "n1:20001", Run: "1.0", Launcher: "Slurm"},
		},
		{
			name: "Slurm, numbers that are none", environment: "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=1 SLURM_NODEID=0 SLURM_STEP_TASKS_PER_NODE=x(x2 SLURM_STEP_NODELIST=n[1-2] SLURM_JOB_ID=1 SLURM_STEP_ID=0",
			want: RankInfo{Rank: 1, Size: 2, LocalRank: 1, Address: "n1:20001", Run: "1.0", Launcher: "Slurm"},
		},
		{
			name: "a step of Slurm", environment: "SLURM_PROCID=1 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0 SLURM_NODELIST=a[1-4] SLURM_STEP_NODELIST=a[3-4] SLURM_JOB_ID=50 SLURM_STEP_ID=2",
			want: RankInfo{Rank: 1, Size: 2, Address: "a3:20052", Run: "50.2", Launcher: "Slurm"},
		},
		{
			name: "torchrun in a step of Slurm", environment: "SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_NODELIST=a[1-2] RANK=6 WORLD_SIZE=8 LOCAL_RANK=2 LOCAL_WORLD_SIZE=4 MASTER_ADDR=a1 MASTER_PORT=9",
			want: RankInfo{Rank: 6, Size: 8, LocalRank: 2, LocalSize: 4, Address: "a1:9", Launcher: "torchrun"},
		},
		// The environment of an sbatch script with 64 tasks, which is started once.
		{name: "sbatch without srun", environment: "SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_NTASKS=64 SLURM_NPROCS=64 SLURM_NNODES=4 SLURM_NODELIST=c[3005,3011] SLURM_JOB_ID=5462202 SLURM_GTIDS=0 SLURM_TASKS_PER_NODE=34,26,2(x2)", want: RankInfo{Size: 1, LocalSize: 1}},
		{name: "salloc without srun", environment: "SLURM_NTASKS=8 SLURM_NPROCS=8 SLURM_NNODES=2 SLURM_NODELIST=c[1-2] SLURM_JOB_ID=9", want: RankInfo{Size: 1, LocalSize: 1}},
		{name: "salloc with a step of its own", environment: "SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NTASKS=8 SLURM_NODELIST=c[1-2] SLURM_JOB_ID=9 SLURM_STEPID=4294967290 SLURM_STEP_ID=4294967290 SLURM_STEP_NUM_TASKS=1 SLURM_STEP_NODELIST=c1", want: RankInfo{Size: 1, LocalSize: 1}},
		{
			name: "srun for the kernel of a notebook", environment: "SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NTASKS=8 SLURM_NODELIST=c[1-2] SLURM_JOB_ID=9 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 SLURM_STEP_NODELIST=c1",
			want: RankInfo{Size: 1, Address: "c1:20009", Run: "9.0", Launcher: "Slurm"},
		},
		{
			name: "srun --mpi=pmi2", environment: "PMI_RANK=3 PMI_SIZE=4 PMI_FD=7 PMI_JOBID=50.2 SLURM_PROCID=3 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID=1 SLURM_STEP_NODELIST=a[3-4] SLURM_JOB_ID=50 SLURM_STEP_ID=2",
			want: RankInfo{Rank: 3, Size: 4, LocalRank: 1, Address: "a3:20052", Run: "50.2", Launcher: "Slurm"},
		},
		{
			name: "srun --mpi=pmix", environment: "PMIX_RANK=3 PMIX_NAMESPACE=slurm.pmix.50.2 SLURM_MPI_TYPE=pmix SLURM_PROCID=3 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID=1 SLURM_STEP_NODELIST=a[3-4] SLURM_JOB_ID=50 SLURM_STEP_ID=2",
			want: RankInfo{Rank: 3, Size: 4, LocalRank: 1, Address: "a3:20052", Run: "50.2", Launcher: "Slurm"},
		},
		{
			// Hydra starts its proxies with srun, so Slurm's numbers are those of the proxies.
			name: "MPICH in a job of Slurm", environment: "PMI_RANK=3 PMI_SIZE=4 PMI_FD=7 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2 SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=2 SLURM_NODELIST=a[3-4] SLURM_JOB_ID=50 SLURM_STEP_ID=0",
			want: RankInfo{Rank: 3, Size: 4, LocalRank: 1, LocalSize: 2, Address: "a3:20050", Run: "50", Launcher: "MPICH"},
		},
		{
			name: "Intel MPI", environment: "PMI_RANK=4 PMI_SIZE=5 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2 I_MPI_HYDRA_UUID=9d260000-7c26-e807-8fb4-050000430af0 MASTER_ADDR=n1",
			want: RankInfo{Rank: 4, Size: 5, LocalRank: 1, LocalSize: 2, Address: fmt.Sprint("n1:", jobPort("9d260000-7c26-e807-8fb4-050000430af0")), Run: "9d260000-7c26-e807-8fb4-050000430af0", Launcher: "MPICH"},
		},
		{name: "Slurm without tasks", environment: "SLURM_PROCID=1 SLURM_STEPID=3", wrong: "Slurm: SLURM_STEP_NUM_TASKS is not set"},
		{name: "Slurm without hosts", environment: "SLURM_PROCID=1 SLURM_STEPID=3 SLURM_NTASKS=2", wrong: "neither SLURM_STEP_NODELIST nor MASTER_ADDR is set"},
		{name: "Slurm with damaged hosts", environment: "SLURM_PROCID=1 SLURM_STEPID=3 SLURM_NTASKS=2 SLURM_NODELIST=a[1-", wrong: "has a [ without a ]"},
		{
			name: "Slurm with another address", environment: "SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_NODELIST=a[1-2] SLURM_LOCALID=0 SLURM_JOB_ID=4 SLURM_STEPID=7 MASTER_ADDR=b MASTER_PORT=4",
			want: RankInfo{Rank: 1, Size: 2, Address: "b:4", Run: "4.7", Launcher: "Slurm"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := FromEnvironment(environment(c.environment))
			if c.wrong != "" {
				var wrong *EnvironmentError
				if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("got %v, want an error with %q", err, c.wrong)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestFirstHost(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"node", "node"}, {"node,other", "node"}, {"node[07-09,12],login", "node07"}, {"r[1-2]n[3-4]", "r1n3"},
		{"a[3]", "a3"}, {"a[3,5-6]b,c", "a3b"}, {"gpu-a-1.example.org,x", "gpu-a-1.example.org"}, {"a[001-100]", "a001"}, {"10.0.0.[7-9]", "10.0.0.7"},
		{"", ""}, {"a[", ""}, {"a]", ""}, {"a[x]", ""}, {"a[1-2", ""}, {",b", ""}, {"a[]", ""},
	} {
		got, err := firstHost(c.list)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: got %q, %v, want %q", c.list, got, err, c.want)
		}
	}
}

func FuzzFirstHost(f *testing.F) {
	for _, seed := range []string{"node[07-09,12],login", "r[1-2]n[1-4]", "a[", "]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		host, err := firstHost(list)
		if err == nil && (host == "" || strings.ContainsAny(host, "[],")) {
			t.Errorf("%q: %q", list, host)
		}
	})
}
