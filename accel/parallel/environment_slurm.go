package parallel

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// slurmHost returns the first host of the step or job of Slurm, or "" outside of one.
func (v *variables) slurmHost() (string, error) {
	list, name := v.first("SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST")
	if list == "" {
		return "", nil
	}
	host, err := firstHost(list)
	if err != nil {
		return "", v.wrong("%s: %v", name, err)
	}
	return host, nil
}

// slurmLocalSize returns the number of tasks of a step on this node, 0 if the variables do not say it. SLURM_STEP_TASKS_PER_NODE
// has the numbers of all nodes, such as 2(x3),1 for 2, 2, 2 and 1.
func (v *variables) slurmLocalSize(p RankInfo) int {
	node, err := strconv.Atoi(v.text("SLURM_NODEID"))
	if err != nil || node < 0 {
		return 0
	}
	sum, here, nodes := 0, 0, 0
	for part := range strings.SplitSeq(v.text("SLURM_STEP_TASKS_PER_NODE"), ",") {
		text, times, several := strings.Cut(part, "(x")
		tasks, err := strconv.Atoi(text)
		repeated := 1
		if several && err == nil {
			repeated, err = strconv.Atoi(strings.TrimSuffix(times, ")"))
		}
		if err != nil || tasks < 1 || repeated < 1 || repeated > p.Size {
			return 0
		}
		if node >= nodes && node < nodes+repeated {
			here = tasks
		}
		nodes, sum = nodes+repeated, sum+repeated*tasks
	}
	if sum != p.Size || p.LocalRank < 0 || p.LocalRank >= here { // numbers of something else
		return 0
	}
	return here
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
