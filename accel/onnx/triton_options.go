package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/training/option"
)

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

// MaxBatchSize sets the maximum number of examples that Triton passes to the model at once. The default is 4, which is
// Triton's own, or 0 if the first axis of an input or output is not the batch. With 0, Triton passes
// each request on as it is, with all of its axes.
func MaxBatchSize(examples int) Option {
	return Option{option.New(func(o *options) { o.maxBatch = examples }, "MaxBatchSize", examples).
		Check(checkRange("the maximum batch size", examples, 0))}
}

// DynamicBatching lets Triton compute requests of several clients together. A request waits for others up to delay, in
// whole microseconds; 0 means that only those that have arrived meanwhile are taken together. If preferred
// sizes are given, a batch that has one of them does not wait.
func DynamicBatching(delay time.Duration, preferred ...int) Option {
	batching := &dynamicBatching{delay, slices.Clone(preferred)}
	o := option.New(func(o *options) { o.batching = batching }, "DynamicBatching", append([]any{delay}, option.Each(preferred)...)...).
		Require(delay >= 0 && delay%time.Microsecond == 0, "the delay must be whole microseconds, and at least 0")
	for _, n := range preferred {
		o = o.Check(checkRange("a preferred batch size", n, 1))
	}
	return Option{o}
}

// GPUInstances makes count copies of the model on each of these GPUs, or on each GPU of the server if none is given.
// Several requests, or batches, are computed at the same time. This and [CPUInstances] may be used together and
// several times.
func GPUInstances(count int, gpus ...int) Option {
	return instanceOption("GPUInstances", instances{count, "KIND_GPU", slices.Clone(gpus)})
}

// CPUInstances makes count copies of the model on the CPU, see [GPUInstances].
func CPUInstances(count int) Option {
	return instanceOption("CPUInstances", instances{count, "KIND_CPU", nil})
}

func instanceOption(call string, group instances) Option {
	o := option.New(func(o *options) { o.groups = append(o.groups, group) }, call, append([]any{group.count}, option.Each(group.gpus)...)...).
		Check(checkRange("the number of instances", group.count, 1))
	for i, gpu := range group.gpus {
		o = o.Check(checkRange("the number of a GPU", gpu, 0)).
			Require(!slices.Contains(group.gpus[:i], gpu), fmt.Sprintf("GPU %d is listed twice", gpu))
	}
	return Option{o}
}

// ServeLatest serves the n newest versions. The default is 1.
func ServeLatest(n int) Option {
	policy := fmt.Sprintf("latest { num_versions: %d }", n)
	return Option{option.New(func(o *options) { o.policy, o.versions = policy, nil }, "ServeLatest", n).
		Check(checkRange("the number of versions", n, 1))}
}

// ServeAll serves all versions.
func ServeAll() Option {
	return Option{option.New(func(o *options) { o.policy, o.versions = "all { }", nil }, "ServeAll")}
}

// ServeVersions serves these versions, each of which must be in the repository or be the one that is saved.
func ServeVersions(versions ...int64) Option {
	policy := fmt.Sprintf("specific { versions: %s }", tritonInts(versions))
	return Option{option.New(func(o *options) { o.policy, o.versions = policy, slices.Clone(versions) }, "ServeVersions", option.Each(versions)...).
		Require(len(versions) > 0, "there is no version")}
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
