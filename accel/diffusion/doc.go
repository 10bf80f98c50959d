// Package diffusion trains models that remove noise from examples, and generates examples from noise with them.
//
// A [Schedule] says how much noise an example has at each of T time steps, 0 to T-1. [Schedule.Dataset] makes a data
// set for accel.Fit, in which each batch has other noise and other steps; the model learns the noise by the mean
// squared error:
//
//	schedule := diffusion.Cosine(200)
//	noisy, err := schedule.Dataset(images)
//	run, err := accel.Fit(ctx, model, noisy, accel.Epochs(60), accel.AdamW(2e-3))
//	drawn, err := schedule.DDIM(ctx, model, tensor.Randn(nil, 40, 1, 8, 8), 50)
//
// A model has one input, [N, values + 1]: the noisy example x_t and its step t. If the examples have classes, the class
// follows the step, so that [Condition] determines what it generates. For a model of vectors, [Embed] is the
// first layer; others divide the input with nn.Unpack, and [TimeEmbedding] is a layer for the step:
//
//	func (m *model) Forward(x *nn.Tensor) *nn.Tensor {
//		in := nn.Unpack(x, []int{1, 8, 8}, []int{1}, []int{1}) // x_t, t, class
//		…
//	}
//
// In a custom training loop, [Schedule.AddNoise] and [Schedule.Velocity] compute the same for a batch:
//
//	t, noise := tensor.RandInt(nil, 0, schedule.Steps(), n), tensor.Randn(nil, x.Shape()...)
//	loss := nn.MSE(model.Forward(nn.Pack(schedule.AddNoise(x, noise, t), t.Cast(tensor.Float32))), noise.Flatten(1))
//
// [Schedule.DDPM] and [Schedule.DDIM] generate examples. Values of examples should have a mean near 0 and a deviation
// near 1; images are mostly scaled to -1..1.
//
// Sources: Ho, Jain and Abbeel, Denoising Diffusion Probabilistic Models, 2020 (DDPM); Nichol and Dhariwal, Improved
// Denoising Diffusion Probabilistic Models, 2021 (the cosine schedule); Song, Meng and Ermon, Denoising Diffusion
// Implicit Models, 2021 (DDIM); Salimans and Ho, Progressive Distillation for Fast Sampling of Diffusion Models, 2022
// (velocities).
package diffusion
