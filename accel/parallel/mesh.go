package parallel

import (
	"context"
	"errors"
	"fmt"
)

// MeshShape is the number of ranks along each dimension of a [DeviceMesh]. Ranks count first
// along TP, then along DP, then along PP, so that the ranks that communicate most, those of tensor
// parallelism, are neighbors and share a machine:
//
//	rank = (pp·DP + dp)·TP + tp
//
// It needs no group, so that a mesh can be planned before its ranks exist.
type MeshShape struct {
	DP int // data parallel: replicas of the model, each with a part of every batch
	TP int // tensor parallel: parts of each layer
	PP int // pipeline parallel: stages, each with a part of the layers
}

// Coordinate is the place of a rank in a mesh: its index along each dimension.
type Coordinate struct {
	DP int // from 0 to the number of replicas less one
	TP int // from 0 to the number of parts of each layer less one
	PP int // from 0 to the number of stages less one
}

// Size returns the number of ranks.
func (s MeshShape) Size() int { return s.DP * s.TP * s.PP }

// Rank returns the rank at a coordinate.
func (s MeshShape) Rank(c Coordinate) int { return (c.PP*s.DP+c.DP)*s.TP + c.TP }

// Coordinate returns the coordinate of a rank.
func (s MeshShape) Coordinate(rank int) Coordinate {
	return Coordinate{DP: rank / s.TP % s.DP, TP: rank % s.TP, PP: rank / (s.TP * s.DP)}
}

// String returns the sizes, such as "dp 2 × tp 4 × pp 1".
func (s MeshShape) String() string { return fmt.Sprintf("dp %d × tp %d × pp %d", s.DP, s.TP, s.PP) }

// Check returns an error unless the mesh has the given number of ranks.
func (s MeshShape) Check(ranks int) error {
	switch {
	case s.DP < 1 || s.TP < 1 || s.PP < 1:
		return fmt.Errorf("parallel: a mesh of %v: each dimension must be at least 1", s)
	case s.Size() != ranks:
		return fmt.Errorf("parallel: a mesh of %v needs %d ranks, but there are %d: dp·tp·pp must be the number of ranks", s, s.Size(), ranks)
	}
	return nil
}

// DeviceMesh arranges the ranks of a group in three dimensions, like PyTorch's DeviceMesh;
// [Mesh] returns it. Along each dimension this rank is in a sub-group with the ranks that differ
// from it only in this coordinate.
type DeviceMesh struct {
	Shape MeshShape // its sizes
	Group *Group    // all ranks

	DP *Group // the ranks that have the same part of the model and other examples
	TP *Group // the ranks with the other parts of the same layers
	PP *Group // the ranks with the other stages, in their order
}

// Mesh arranges the ranks of a group in dp replicas of tp parts of pp stages. All ranks call it
// with the same sizes, whose product is the number of ranks:
//
//	mesh, err := parallel.Mesh(ctx, group, 2, 4, 1)
//	…
//	defer mesh.Close()
//	err = mesh.TP.AllReduce(ctx, values, parallel.Sum)
//
// Errors: that of [MeshShape.Check], one that names a rank with other sizes, and those of [Join]
// for the sub-groups.
func Mesh(ctx context.Context, group *Group, dp, tp, pp int) (*DeviceMesh, error) {
	if err := requireGroup(ctx, group, "Mesh"); err != nil {
		return nil, err
	}
	shape := MeshShape{dp, tp, pp}
	all, err := gatherJSON(ctx, group, shape)
	if err != nil {
		return nil, err
	}
	if err := shape.Check(group.Size()); err != nil {
		return nil, err
	}
	for r, other := range all {
		if other != shape {
			return nil, fmt.Errorf("parallel: rank %d makes a mesh of %v, but this rank, %d, one of %v: all ranks need the same sizes", r, other, group.Rank(), shape)
		}
	}
	m := &DeviceMesh{Shape: shape, Group: group}
	for _, d := range []struct {
		sub  **Group
		size int
		at   func(c *Coordinate) *int
	}{
		{&m.TP, tp, func(c *Coordinate) *int { return &c.TP }},
		{&m.DP, dp, func(c *Coordinate) *int { return &c.DP }},
		{&m.PP, pp, func(c *Coordinate) *int { return &c.PP }},
	} {
		members := make([]int, d.size)
		for i := range members {
			c := m.Coordinate()
			*d.at(&c) = i
			members[i] = shape.Rank(c)
		}
		if *d.sub, err = group.subgroup(ctx, members); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	return m, nil
}

// Coordinate returns the coordinate of this rank.
func (m *DeviceMesh) Coordinate() Coordinate { return m.Shape.Coordinate(m.Group.Rank()) }

// String returns the shape and the place of this rank in it.
func (m *DeviceMesh) String() string {
	c := m.Coordinate()
	return fmt.Sprintf("rank %d of a mesh of %v, at dp %d, tp %d, pp %d", m.Group.Rank(), m.Shape, c.DP, c.TP, c.PP)
}

// Close leaves the sub-groups. The group of all ranks stays open.
func (m *DeviceMesh) Close() (err error) {
	for _, sub := range []*Group{m.TP, m.DP, m.PP} {
		if sub != nil && sub != m.Group {
			err = errors.Join(err, sub.Close())
		}
	}
	return err
}
