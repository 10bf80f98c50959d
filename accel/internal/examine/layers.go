package examine

import "fmt"

// Units returns the number of units in the outputs of a layer and how many elements of each follow each other in
// memory: a unit is a channel of images [N, C, H, W], and otherwise an index of the last dimension.
func Units(shape []int) (units, inner int) {
	if len(shape) == 4 {
		return shape[1], shape[2] * shape[3]
	}
	return shape[len(shape)-1], 1
}

// Dead finds an activation almost all of whose units are 0 for all examples: nothing after it can
// learn. values are the outputs [N, units, inner] of a layer.
func Dead(path, layer string, values []float64, units, inner int) []string {
	if units < 4 || inner < 1 || len(values) < 16*units*inner {
		return nil
	}
	alive := make([]bool, units)
	for i, v := range values {
		if v != 0 {
			alive[i/inner%units] = true
		}
	}
	dead := 0
	for _, a := range alive {
		if !a {
			dead++
		}
	}
	if float64(dead) < 0.95*float64(units) {
		return nil
	}
	return []string{fmt.Sprintf("%d of the %d units of layer %s, %s, are 0 for all of %d examples, and the layers before it get no gradient from them: "+
		"use a lower learning rate, standardized inputs, or nn.LeakyReLU", dead, units, path, layer, len(values)/units/inner)}
}
