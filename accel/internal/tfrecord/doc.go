// Package tfrecord reads files in TensorFlow's TFRecord format, whose records are messages
// tf.train.Example.
//
// A record is its length (8 bytes), a checksum of the length (4), the data and a checksum of the data (4),
// in little endian. A checksum is CRC-32C, rotated and shifted; see [MaskedCRC]. The format is described at
// https://www.tensorflow.org/tutorials/load_data/tfrecord and in tensorflow/core/example/feature.proto.
package tfrecord
