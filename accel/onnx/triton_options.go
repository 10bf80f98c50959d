package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/option"
)

// TritonOption configures [Model.SaveTriton]; String returns it as a Go expression.
type TritonOption struct{ option.Of[serving] }

// serving is the part of a Triton configuration that does not follow from the model.
type serving struct {
	maxBatch int // or unset
	batching *dynamicBatching
	groups   []instances
	policy   string  // which versions are served, in Triton's text format
	versions []int64 // of ServeVersions
}

// unset is the maximum batch size that the user has not chosen.
const unset = -1

// dynamicBatching is how Triton collects requests.
type dynamicBatching struct {
	delay     time.Duration
	preferred []int
}

// instances are copies of the model that compute at the same time.
type instances struct {
	count int
	kind  string
	gpus  []int
}

func tritonOption(text string, set func(*serving) error) TritonOption {
	return TritonOption{option.New(text, func(s *serving) error {
		if err := set(s); err != nil {
			return fmt.Errorf("onnx: %s: %w", text, err)
		}
		return nil
	})}
}

// MaxBatchSize sets the maximum number of examples that Triton passes to the model at once. The default is 4, which is
// Triton's own, or 0 if the first axis of an input or output is not the batch. With 0, Triton passes
// each request on as it is, with all of its axes.
func MaxBatchSize(examples int) TritonOption {
	return tritonOption(fmt.Sprintf("MaxBatchSize(%d)", examples), func(s *serving) error {
		s.maxBatch = examples
		return checkRange("the maximum batch size", examples, 0)
	})
}

// DynamicBatching lets Triton compute requests of several clients together. A request waits for others up to delay, in
// whole microseconds; 0 means that only those that have arrived meanwhile are taken together. If preferred
// sizes are given, a batch that has one of them does not wait.
func DynamicBatching(delay time.Duration, preferred ...int) TritonOption {
	text := fmt.Sprintf("DynamicBatching(%v%s)", delay, listed(preferred))
	return tritonOption(text, func(s *serving) error {
		if delay < 0 || delay%time.Microsecond != 0 {
			return errors.New("the delay must be whole microseconds, and at least 0")
		}
		for _, n := range preferred {
			if err := checkRange("a preferred batch size", n, 1); err != nil {
				return err
			}
		}
		s.batching = &dynamicBatching{delay, slices.Clone(preferred)}
		return nil
	})
}

// GPUInstances makes count copies of the model on each of these GPUs, or on each GPU of the server if none is given.
// Several requests, or batches, are computed at the same time. This and [CPUInstances] may be used together and
// several times.
func GPUInstances(count int, gpus ...int) TritonOption {
	return instanceOption("GPUInstances", instances{count, "KIND_GPU", slices.Clone(gpus)})
}

// CPUInstances makes count copies of the model on the CPU, see [GPUInstances].
func CPUInstances(count int) TritonOption {
	return instanceOption("CPUInstances", instances{count, "KIND_CPU", nil})
}

func instanceOption(call string, group instances) TritonOption {
	return tritonOption(fmt.Sprintf("%s(%d%s)", call, group.count, listed(group.gpus)), func(s *serving) error {
		if err := checkRange("the number of instances", group.count, 1); err != nil {
			return err
		}
		for i, gpu := range group.gpus {
			if err := checkRange("the number of a GPU", gpu, 0); err != nil {
				return err
			}
			if slices.Contains(group.gpus[:i], gpu) {
				return fmt.Errorf("GPU %d is listed twice", gpu)
			}
		}
		s.groups = append(s.groups, group)
		return nil
	})
}

// ServeLatest serves the n newest versions. The default is 1.
func ServeLatest(n int) TritonOption {
	return tritonOption(fmt.Sprintf("ServeLatest(%d)", n), func(s *serving) error {
		s.policy, s.versions = fmt.Sprintf("latest { num_versions: %d }", n), nil
		return checkRange("the number of versions", n, 1)
	})
}

// ServeAll serves all versions.
func ServeAll() TritonOption {
	return tritonOption("ServeAll()", func(s *serving) error {
		s.policy, s.versions = "all { }", nil
		return nil
	})
}

// ServeVersions serves these versions, each of which must be in the repository or be the one that is saved.
func ServeVersions(versions ...int64) TritonOption {
	text := fmt.Sprintf("ServeVersions(%s)", strings.TrimPrefix(listed(versions), ", "))
	return tritonOption(text, func(s *serving) error {
		if len(versions) == 0 {
			return errors.New("there is no version")
		}
		s.versions = slices.Clone(versions)
		s.policy = fmt.Sprintf("specific { versions: %s }", tritonInts(versions))
		return nil
	})
}

// checkBatching fails if requests cannot be collected.
func (s *serving) checkBatching(notBatched string) error {
	switch d := s.batching; {
	case d == nil:
	case s.maxBatch == 0 && notBatched != "":
		return notServable("DynamicBatching: %s", notBatched)
	case s.maxBatch == 0:
		return errors.New("onnx: DynamicBatching: MaxBatchSize must be at least 1")
	case len(d.preferred) > 0 && slices.Max(d.preferred) > s.maxBatch:
		return fmt.Errorf("onnx: DynamicBatching: the preferred batch size %d is larger than the maximum batch size %d: raise it with MaxBatchSize",
			slices.Max(d.preferred), s.maxBatch)
	}
	return nil
}

// checkVersions fails if a version of ServeVersions is not among those in the repository and the next one.
func (s *serving) checkVersions(versions []int64) error {
	for _, v := range s.versions {
		if !slices.Contains(versions, v) && v != next(versions) {
			return fmt.Errorf("ServeVersions: there is no version %d among %d, and this one gets the number %d", v, versions, next(versions))
		}
	}
	return nil
}

// checkRange fails unless a number is at least least and fits into 32 bits.
func checkRange(what string, n, least int) error {
	if n < least || n > math.MaxInt32 {
		return fmt.Errorf("%s is %d, but must be from %d to %d", what, n, least, math.MaxInt32)
	}
	return nil
}

// listed formats further arguments of a call.
func listed[N int | int64](all []N) string {
	text := ""
	for _, n := range all {
		text += fmt.Sprintf(", %d", n)
	}
	return text
}
