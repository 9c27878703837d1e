#!/usr/bin/env python3
"""Writes the meshes of this folder with trimesh. See README.md."""

import trimesh

# 42 vertices and 80 triangles. All coordinates are float32 numbers, so that text and binary agree.
sphere = trimesh.creation.icosphere(subdivisions=1, radius=2.0)
sphere.vertices = sphere.vertices.astype("float32").astype("float64")
sphere.export("icosphere.stl", file_type="stl")
sphere.export("icosphere-text.stl", file_type="stl_ascii")
sphere.export("icosphere.obj", digits=9)
