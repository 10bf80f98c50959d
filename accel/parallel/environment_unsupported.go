package parallel

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// unsupportedVariable is a variable of a launcher that this package does not support, because the variable does
// not define rank, size and address, or because it is meant for another program.
type unsupportedVariable struct {
	launcher string
	name     string
	// several reports whether the value announces several processes.
	several func(value string) bool
}

// unsupportedVariables are checked if no supported launcher has started the process.
var unsupportedVariables = []unsupportedVariable{
	{"torchrun (as Kubeflow Trainer sets it for torchrun to read)", "PET_NPROC_PER_NODE", atLeast(2)},
	{"torchrun", "LOCAL_WORLD_SIZE", atLeast(2)},
	{"torchrun", "LOCAL_RANK", atLeast(1)},
	{"torchrun", "GROUP_WORLD_SIZE", atLeast(2)},
	{"torchrun", "GROUP_RANK", atLeast(1)},
	{"Lightning", "NODE_RANK", atLeast(1)},
	{"PMIx", "PMIX_SIZE", atLeast(2)},
	{"PMIx", "PMIX_RANK", atLeast(1)},
	{"PALS", "PALS_RANKID", atLeast(1)},
	{"Slurm", "SLURM_PROCID", atLeast(1)},
	{"Slurm", "SLURM_STEP_NUM_TASKS", atLeast(2)},
	{"Horovod", "HOROVOD_SIZE", atLeast(2)},
	{"Horovod", "HOROVOD_RANK", atLeast(1)},
	{"Kubeflow's JAXJob", "NUM_PROCESSES", atLeast(2)},
	{"PaddlePaddle", "PADDLE_TRAINERS_NUM", atLeast(2)},
	{"PaddlePaddle", "PADDLE_TRAINER_ID", atLeast(1)},
	{"DMLC", "DMLC_NUM_WORKER", atLeast(2)},
	{"Kubernetes (an Indexed Job or a JobSet)", "JOB_COMPLETION_INDEX", atLeast(1)},
	{"Volcano", "VC_TASK_INDEX", atLeast(1)},
	{"Volcano", "VK_TASK_INDEX", atLeast(1)},
	{"Volcano", "VC_WORKER_NUM", atLeast(2)},
	{"Volcano", "VC_WORKER_HOSTS", hosts},
	{"SageMaker", "SM_HOSTS", hosts},
	{"AWS Batch", "AWS_BATCH_JOB_NUM_NODES", atLeast(2)},
	{"AWS Batch", "AWS_BATCH_JOB_NODE_INDEX", atLeast(1)},
	{"TensorFlow", "TF_CONFIG", cluster},
	{"Vertex AI", "CLUSTER_SPEC", cluster},
}

// checkUnsupported returns an [*EnvironmentError] if variables announce several processes, each of
// which would train alone.
func checkUnsupported(lookup func(string) (string, bool)) error {
	for _, s := range unsupportedVariables {
		value, _ := lookup(s.name)
		if value == "" || !s.several(value) {
			continue
		}
		return &EnvironmentError{Launcher: s.launcher, Hint: fmt.Sprintf(
			"%s=%s announces several processes, but RANK and WORLD_SIZE are not set, so each process would train alone: "+
				"start the program with torchrun, mpirun or srun, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each process; for a single process set RANK=0 and WORLD_SIZE=1",
			s.name, value)}
	}
	return nil
}

// atLeast reports whether a number, or the end of a range such as 1:4, is at least n. It is
// false for words such as torchrun's auto.
func atLeast(n int) func(string) bool {
	return func(value string) bool {
		_, last, ranges := strings.Cut(value, ":")
		if !ranges {
			last = value
		}
		v, err := strconv.Atoi(strings.TrimSpace(last))
		return err == nil && v >= n
	}
}

// hosts reports whether a list of hosts, as JSON or separated by commas, has more than one.
func hosts(value string) bool {
	var list []string
	if json.Unmarshal([]byte(value), &list) == nil {
		return len(list) > 1
	}
	return strings.Contains(strings.Trim(value, ", "), ",")
}

// cluster reports whether a cluster description in JSON has more than one task.
func cluster(value string) bool {
	var c struct {
		Cluster map[string][]string
	}
	if json.Unmarshal([]byte(value), &c) != nil {
		return false
	}
	tasks := 0
	for _, hosts := range c.Cluster {
		tasks += len(hosts)
	}
	return tasks > 1
}
