package history

import (
	"bytes"
	"encoding/gob"
	"time"

	"github.com/quernlab/quern/gpu"
)

// sentRun is a run as one process sends it to another: without the utilization of the machine, which stays with
// the process that recorded it.
type sentRun struct {
	Run exportedRun

	Findings     []string
	Device, NCCL string
	StreamSeed   uint64
	Outputs      []string
	PeakBytes    int
	AssumedWatts float64
	LocalRanks   int
	Finished     bool
	Restored     bool
	Diverged     bool
	Averaged     bool
	Classes      bool
	Metrics      []Metric
	Began        time.Time
	EpochStarts  []time.Time
}

// exportedRun is a Run without methods: package gob sends its exported fields.
type exportedRun Run

// GobEncode encodes the run for another process, without Utilization.
func (r *Run) GobEncode() ([]byte, error) {
	s := sentRun{
		Run: exportedRun(*r), Findings: r.findings, Device: r.device, NCCL: r.nccl, StreamSeed: r.streamSeed, Outputs: r.outputs,
		PeakBytes: r.peakBytes, AssumedWatts: r.assumedWatts, LocalRanks: r.localRanks, Finished: r.finished, Restored: r.restored,
		Diverged: r.diverged, Averaged: r.averaged, Classes: r.classes, Metrics: r.metrics, Began: r.began, EpochStarts: r.epochStarts,
	}
	s.Run.Utilization, s.Run.OtherUtilization = gpu.History{}, nil
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(s)
	return b.Bytes(), err
}

// GobDecode decodes a run that GobEncode has encoded.
func (r *Run) GobDecode(b []byte) error {
	var s sentRun
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&s); err != nil {
		return err
	}
	*r = Run(s.Run)
	r.findings, r.device, r.nccl, r.streamSeed, r.outputs, r.peakBytes = s.Findings, s.Device, s.NCCL, s.StreamSeed, s.Outputs, s.PeakBytes
	r.assumedWatts, r.localRanks, r.finished, r.restored, r.diverged = s.AssumedWatts, s.LocalRanks, s.Finished, s.Restored, s.Diverged
	r.averaged, r.classes, r.metrics, r.began, r.epochStarts = s.Averaged, s.Classes, s.Metrics, s.Began, s.EpochStarts
	return nil
}
