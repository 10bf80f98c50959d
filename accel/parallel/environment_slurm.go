package parallel

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// slurm's srun sets these variables for each task. Names with STEP describe the step that srun
// has started, the others its job.
var slurm = launcher{
	name:      "Slurm",
	variables: []string{"SLURM_PROCID"},
	started:   inStep,
	read: func(v *variables) (RankInfo, error) {
		p, err := v.readRank(names{
			rank: []string{"SLURM_PROCID"}, size: []string{"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"},
			localRank: []string{"SLURM_LOCALID"},
		})
		if err != nil {
			return p, err
		}
		host := ""
		list, name := v.first("SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST")
		if list != "" {
			if host, err = firstHost(list); err != nil {
				return p, &EnvironmentError{Launcher: v.launcher, Hint: name + ": " + err.Error()}
			}
		}
		if p.Size > 1 && host == "" && v.text("MASTER_ADDR") == "" {
			return p, &EnvironmentError{Launcher: v.launcher, Hint: "neither " + name + " nor MASTER_ADDR is set, so the address of rank 0 is unknown"}
		}
		p.Run, _ = v.first("SLURM_JOB_ID", "SLURM_JOBID")
		step, _ := v.first("SLURM_STEP_ID", "SLURM_STEPID")
		p.Run += "." + step
		p.Address, err = v.address(host, jobPort(p.Run))
		return p, err
	},
}

// specialSteps is the smallest step number not used by srun: larger ones are the batch script,
// the shell of salloc, and processes adopted into a job (slurm.h).
const specialSteps = 0xfffffff0

// inStep reports whether srun has started this process. A batch script also has SLURM_PROCID=0
// and the SLURM_NTASKS of its whole job, but no step number.
func inStep(v *variables) bool {
	text, _ := v.first("SLURM_STEP_ID", "SLURM_STEPID")
	step, err := strconv.ParseUint(text, 10, 32)
	return err == nil && step < specialSteps
}

// jobPort derives a port from the name of a run, so that two runs on one machine rarely
// collide: one of ten thousand below the ephemeral ports.
func jobPort(run string) int {
	if run == "" {
		return DefaultPort
	}
	job, step, _ := strings.Cut(run, ".")
	n, err := strconv.Atoi(job)
	if err != nil || n < 0 {
		h := fnv.New32a()
		h.Write([]byte(run))
		return firstPort + int(h.Sum32()%ports)
	}
	s, err := strconv.Atoi(step)
	if err != nil || s < 0 {
		s = 0
	}
	return firstPort + (n%ports+s%ports)%ports
}

// The range of jobPort.
const firstPort, ports = 20000, 10000

// firstHost returns the first host of a list in Slurm's compact form, in which
//
//	node[07-09,12],login  stands for  node07 node08 node09 node12 login
//	r[1-2]n[1-4]          stands for  r1n1 r1n2 … r2n4
//
// The first host has the first number of each bracket.
func firstHost(list string) (string, error) {
	var host strings.Builder
	rest := list
	for rest != "" {
		i := strings.IndexAny(rest, "[],")
		if i < 0 {
			host.WriteString(rest)
			break
		}
		host.WriteString(rest[:i])
		sign := rest[i]
		rest = rest[i+1:]
		if sign == ',' {
			break
		}
		if sign == ']' {
			return "", fmt.Errorf("%q has a ] without a [", list)
		}
		inside, after, closed := strings.Cut(rest, "]")
		if !closed {
			return "", fmt.Errorf("%q has a [ without a ]", list)
		}
		number, _, _ := strings.Cut(inside, ",")
		number, _, _ = strings.Cut(number, "-")
		if _, err := strconv.ParseUint(number, 10, 64); err != nil {
			return "", fmt.Errorf("%q has no number after a [", list)
		}
		host.WriteString(number)
		rest = after
	}
	if host.Len() == 0 {
		return "", errors.New("the list of hosts is empty")
	}
	return host.String(), nil
}
