package main

import (
	"strings"
	"testing"
)

func TestLocalRanks(t *testing.T) {
	for _, row := range []struct {
		name, environment string
		want              int
	}{
		{"alone", "", 1},
		{"torchrun", "RANK=1 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=1", 4},
		{"the kernel", "LOCAL_WORLD_SIZE=2", 2},
		{"Open MPI", "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=3 OMPI_COMM_WORLD_LOCAL_SIZE=4", 4},
		{"MPICH", "PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2", 2},
		{"srun", "SLURM_PROCID=5 SLURM_STEP_NUM_TASKS=6 SLURM_LOCALID=2 SLURM_NODEID=1 SLURM_STEP_TASKS_PER_NODE=3(x2) SLURM_STEP_NODELIST=n[1-2] SLURM_JOB_ID=1 SLURM_STEP_ID=0", 3},
		{"sbatch", "SLURM_PROCID=0 SLURM_NTASKS=6 SLURM_NODEID=0 SLURM_TASKS_PER_NODE=3(x2) SLURM_NODELIST=n[1-2] SLURM_JOB_ID=1", 1},
		{"variables that do not agree", "OMPI_COMM_WORLD_SIZE=4", 1},
		{"not a number", "LOCAL_WORLD_SIZE=x", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			set := map[string]string{}
			for variable := range strings.FieldsSeq(row.environment) {
				name, value, _ := strings.Cut(variable, "=")
				set[name] = value
			}
			got := localRanks(func(name string) (string, bool) { v, ok := set[name]; return v, ok })
			if got != row.want {
				t.Errorf("got %d, want %d", got, row.want)
			}
		})
	}
}
