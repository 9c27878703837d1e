// Draws spheres, a mesh and the edges of a box in WebGL2, as the shader of the example `embed` does in WebGPU; without WebGL2,
// in a flat picture. Both have the same methods.

const HEAD = `#version 300 es
precision highp float;
uniform mat4 clip_from_world;
uniform vec3 eye, up, box_half;
uniform float pixel, fog;
float to_wall(vec3 place, vec3 direction) {
  vec3 side = vec3(direction.x > 0.0 ? box_half.x : -box_half.x, direction.y > 0.0 ? box_half.y : -box_half.y,
    direction.z > 0.0 ? box_half.z : -box_half.z);
  vec3 walls = (side - place) / direction;
  return max(0.0, min(walls.x, min(walls.y, walls.z)));
}
vec3 shown(vec3 light) {
  vec3 x = max(light, vec3(0.0));
  vec3 film = clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
  return mix(12.92 * film, 1.055 * pow(film, vec3(1.0 / 2.4)) - 0.055, step(vec3(0.0031308), film));
}
vec3 lighting(vec3 place, vec3 normal, vec3 ray, vec3 colour, vec3 glow) {
  const vec3 KEY = vec3(0.30, 0.87, 0.39);
  float key = exp(-to_wall(place, KEY) / fog);
  float sky = exp(-to_wall(place, -ray) / (1.5 * fog));
  float facing = dot(normal, KEY);
  float wrapped = clamp((facing + 0.25) / 1.25, 0.0, 1.0);
  float shine = pow(max(dot(normal, normalize(KEY - ray)), 0.0), 40.0) * clamp(4.0 * facing, 0.0, 1.0);
  float rim = pow(1.0 - clamp(-dot(normal, ray), 0.0, 1.0), 3.0);
  vec3 ambient = mix(vec3(0.10, 0.09, 0.12), vec3(0.34, 0.42, 0.58), 0.5 + 0.5 * normal.y);
  vec3 light = colour * (2.6 * key * wrapped * vec3(1.0, 0.94, 0.84) + sky * ambient);
  return light + sky * rim * vec3(0.10, 0.16, 0.26) + 0.5 * key * shine + glow * mix(0.35, 1.0, sky);
}
`;
const SPHERE = [`${HEAD}
layout(location = 0) in vec4 sphere;
layout(location = 1) in vec4 look;
out vec3 v_ray;
flat out vec4 v_centre;
flat out vec3 v_colour, v_glow;
void main() {
  vec3 centre = sphere.xyz - eye;
  float radius = sphere.w, square = dot(centre, centre);
  if (square <= 1.001 * radius * radius) { gl_Position = vec4(0.0, 0.0, 2.0, 1.0); return; }
  float distance = sqrt(square);
  float size = radius * sqrt(square / (square - radius * radius)) + pixel * distance;
  vec3 ahead = centre / distance, right = normalize(cross(ahead, up));
  vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  v_ray = centre + size * (at.x * right + at.y * cross(right, ahead));
  gl_Position = clip_from_world * vec4(eye + v_ray, 1.0);
  v_centre = vec4(centre, radius);
  float heat = look.w;
  v_glow = mix(vec3(1.0, 0.11, 0.015), vec3(1.0, 0.42, 0.07), smoothstep(4.0, 26.0, heat))
    * (heat * heat / (40.0 + heat * heat)) * (0.35 + 0.045 * heat);
  v_colour = look.rgb * (1.0 - 0.9 * clamp(2.5 * v_glow.r, 0.0, 1.0));
}`, `${HEAD}
in vec3 v_ray;
flat in vec4 v_centre;
flat in vec3 v_colour, v_glow;
out vec4 colour;
void main() {
  vec3 ray = normalize(v_ray), centre = v_centre.xyz;
  float radius = v_centre.w, along = dot(centre, ray);
  vec3 beside = centre - along * ray;
  float square = dot(beside, beside);
  float cover = clamp((radius - sqrt(square)) / (pixel * along) + 0.5, 0.0, 1.0);
  if (cover <= 0.0) discard;
  vec3 hit = (along - sqrt(max(radius * radius - square, 0.0))) * ray;
  vec3 normal = normalize(hit - centre);
  vec4 clip = clip_from_world * vec4(eye + hit, 1.0);
  gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
  vec3 glow = v_glow * (0.5 + clamp(-dot(normal, ray), 0.0, 1.0));
  colour = vec4(shown(lighting(eye + hit, normal, ray, v_colour, glow)), cover);
}`];
const MESH = [`${HEAD}
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
out vec3 v_place, v_normal;
void main() {
  v_place = place;
  v_normal = normal;
  gl_Position = clip_from_world * vec4(place, 1.0);
}`, `${HEAD}
in vec3 v_place, v_normal;
out vec4 colour;
void main() {
  vec3 ray = normalize(v_place - eye);
  vec3 normal = dot(v_normal, v_normal) > 0.0 ? normalize(faceforward(v_normal, ray, v_normal)) : vec3(0.0);
  vec3 light = lighting(v_place, normal, ray, vec3(0.15, 0.16, 0.18), vec3(0.0));
  colour = vec4(v_normal == vec3(0.0) ? vec3(0.48, 0.57, 0.67) : shown(light), 1.0);
}`];

// The twelve edges of a box, as lines.
const edges = ([x, y, z]) => {
  const all = [];
  for (let axis = 0; axis < 3; axis++) {
    for (let side = 0; side < 4; side++) {
      for (const end of [-1, 1]) {
        const corner = [0, 0, 0];
        corner[axis] = end;
        corner[(axis + 1) % 3] = 2 * (side & 1) - 1;
        corner[(axis + 2) % 3] = (side & 2) - 1;
        all.push(1.004 * x * corner[0], 1.004 * y * corner[1], 1.004 * z * corner[2]);
      }
    }
  }
  return all;
};

class Solid {
  constructor(canvas, gl) {
    this.canvas = canvas;
    this.gl = gl;
    this.world = { half: [1, 1, 1], fog: 3, corners: new Float32Array(0) };
    this.positions = this.look = new Float32Array(0);
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => { this.make(); this.show(this.world); this.move(this.positions, this.look); });
    this.make();
  }

  make() {
    const { gl } = this;
    this.programs = [SPHERE, MESH].map((sources) => {
      const program = gl.createProgram();
      sources.forEach((source, k) => {
        const shader = gl.createShader(k ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER);
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        gl.attachShader(program, shader);
      });
      gl.linkProgram(program);
      if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
        const logs = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
        throw new Error(`WebGL2 refuses a shader: ${gl.getProgramInfoLog(program)} ${logs.join(' ')}`);
      }
      const at = (name) => gl.getUniformLocation(program, name);
      return { program, places: ['clip_from_world', 'eye', 'up', 'box_half', 'pixel', 'fog'].map(at) };
    });
    this.buffers = [0, 1, 2, 3].map(() => gl.createBuffer());
    this.arrays = [gl.createVertexArray(), gl.createVertexArray()];
    const attribute = (place, buffer, size, instanced) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[buffer]);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 0, 0);
      gl.vertexAttribDivisor(place, instanced ? 1 : 0);
    };
    gl.bindVertexArray(this.arrays[0]);
    attribute(0, 0, 4, true);
    attribute(1, 1, 4, true);
    gl.bindVertexArray(this.arrays[1]);
    attribute(0, 2, 3, false);
    attribute(1, 3, 3, false);
    gl.bindVertexArray(null);
  }

  fill(buffer, data) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[buffer]);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
  }

  // `corners` has nine numbers for each triangle.
  show(world) {
    this.world = world;
    const { corners, half } = world;
    const lines = edges(half);
    const normals = new Float32Array(corners.length + lines.length);
    for (let t = 0; t < corners.length; t += 9) {
      const [a, b, c] = [0, 3, 6].map((k) => corners.subarray(t + k, t + k + 3));
      const [u, v] = [b, c].map((end) => [0, 1, 2].map((k) => end[k] - a[k]));
      for (let k = 0; k < 9; k++) {
        const [i, j] = [(k + 1) % 3, (k + 2) % 3];
        normals[t + k] = u[i] * v[j] - u[j] * v[i];
      }
    }
    // Long normals of large worlds and short ones of small worlds are unit vectors.
    for (let n = 0; n < corners.length; n += 3) {
      const length = Math.hypot(normals[n], normals[n + 1], normals[n + 2]) || 1;
      for (let k = 0; k < 3; k++) normals[n + k] /= length;
    }
    const places = new Float32Array(normals.length);
    places.set(corners);
    places.set(lines, corners.length);
    this.fill(2, places);
    this.fill(3, normals);
  }

  move(positions, look) {
    this.positions = positions;
    this.look = look;
    this.fill(0, positions);
    this.fill(1, look);
  }

  draw(view) {
    const { gl, canvas, world } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0.06, 0.075, 0.1, 1);
    // Depth is 1 near and 0 far away.
    gl.clearDepth(0);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.GREATER);
    gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.programs.forEach(({ program, places: [matrix, eye, up, half, pixel, fog] }, k) => {
      gl.useProgram(program);
      gl.uniformMatrix4fv(matrix, false, view.subarray(0, 16));
      gl.uniform3fv(eye, view.subarray(16, 19));
      gl.uniform3fv(up, view.subarray(19, 22));
      gl.uniform3fv(half, world.half);
      gl.uniform1f(pixel, view[22]);
      gl.uniform1f(fog, world.fog);
      gl.bindVertexArray(this.arrays[k]);
      if (k === 0) {
        gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.positions.length / 4);
      } else {
        gl.drawArrays(gl.TRIANGLES, 0, world.corners.length / 3);
        gl.drawArrays(gl.LINES, world.corners.length / 3, 24);
      }
    });
    gl.bindVertexArray(null);
  }
}

class Flat {
  constructor(canvas, context) {
    this.canvas = canvas;
    this.context = context;
    this.world = { half: [1, 1, 1], corners: new Float32Array(0) };
    this.positions = this.look = new Float32Array(0);
  }

  show(world) {
    this.world = world;
  }

  move(positions, look) {
    this.positions = positions;
    this.look = look;
  }

  draw(view) {
    const { context, canvas, positions, look, world } = this;
    const { width, height } = canvas;
    const projected = (x, y, z) => {
      const [a, b, , w] = [0, 1, 2, 3].map((row) => view[row] * x + view[4 + row] * y + view[8 + row] * z + view[12 + row]);
      return [(0.5 + 0.5 * a / w) * width, (0.5 - 0.5 * b / w) * height, w];
    };
    context.fillStyle = '#10141c';
    context.fillRect(0, 0, width, height);
    const line = (from, to) => {
      if (from[2] <= 0 || to[2] <= 0) return;
      context.moveTo(from[0], from[1]);
      context.lineTo(to[0], to[1]);
    };
    context.strokeStyle = '#7b91ab';
    context.beginPath();
    const box = edges(world.half);
    for (let k = 0; k < box.length; k += 6) line(projected(...box.slice(k, k + 3)), projected(...box.slice(k + 3, k + 6)));
    const { corners } = world;
    for (let k = 0; k < Math.min(corners.length, 9 * 5000); k += 9) {
      const [a, b, c] = [0, 3, 6].map((at) => projected(...corners.subarray(k + at, k + at + 3)));
      line(a, b);
      line(b, c);
      line(c, a);
    }
    context.stroke();
    const all = [];
    for (let i = 0; i < positions.length; i += 4) {
      const [x, y, w] = projected(positions[i], positions[i + 1], positions[i + 2]);
      if (w > positions[i + 3]) all.push([w, x, y, positions[i + 3] / w / view[22], i]);
    }
    all.sort((p, q) => q[0] - p[0]);
    for (const [, x, y, radius, i] of all) {
      const heat = Math.min(1, look[i + 3] / 20);
      const rgb = [0, 1, 2].map((k) => Math.round(255 * Math.min(1, Math.sqrt(look[i + k] * 2.2 + heat * [1, 0.4, 0.05][k]))));
      context.fillStyle = `rgb(${rgb})`;
      context.beginPath();
      context.arc(x, y, Math.max(radius, 0.5), 0, 2 * Math.PI);
      context.fill();
    }
  }
}

// Returns a drawing on a canvas, or null if the browser cannot draw at all.
export const drawing = (canvas) => {
  const gl = canvas.getContext('webgl2', { antialias: true, powerPreference: 'high-performance' });
  if (gl) return new Solid(canvas, gl);
  const context = canvas.getContext('2d');
  return context && new Flat(canvas, context);
};
