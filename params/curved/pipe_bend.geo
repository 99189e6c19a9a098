// A bend of 90 degrees of a steel pipe with water in it, in metres, for `gmsh pipe_bend.geo -3`.
// Inner radius 2 cm, outer radius 3 cm, axis of the bend at 8 cm. 36 hexahedra of second order.
inner = 0.02; outer = 0.03; core = 0.012; bend = 0.08;

Point(1) = {bend, 0, 0};
For k In {0:3}  // corners of a square in the water, on the inner and on the outer circle
  angle = Pi/4 + k*Pi/2;
  Point(10+k) = {bend + core*Cos(angle), 0, core*Sin(angle)};
  Point(20+k) = {bend + inner*Cos(angle), 0, inner*Sin(angle)};
  Point(30+k) = {bend + outer*Cos(angle), 0, outer*Sin(angle)};
EndFor
For k In {0:3}
  n = (k+1) % 4;
  Line(10+k) = {10+k, 10+n};
  Circle(20+k) = {20+k, 1, 20+n};
  Circle(30+k) = {30+k, 1, 30+n};
  Line(40+k) = {10+k, 20+k};
  Line(50+k) = {20+k, 30+k};
EndFor
Curve Loop(1) = {10, 11, 12, 13};
Plane Surface(1) = {1};
For k In {0:3}
  n = (k+1) % 4;
  Curve Loop(10+k) = {40+k, 20+k, -(40+n), -(10+k)};
  Plane Surface(10+k) = {10+k};
  Curve Loop(20+k) = {50+k, 30+k, -(50+n), -(20+k)};
  Plane Surface(20+k) = {20+k};
EndFor
Transfinite Curve {10:13, 20:23, 30:33, 40:43, 50:53} = 2;  // one cell
Transfinite Surface {1, 10:13, 20:23};
Recombine Surface {1, 10:13, 20:23};

water[] = {}; steel[] = {}; end[] = {}; outside[] = {};
For k In {-1:3}
  part[] = Extrude {{0, 0, 1}, {0, 0, 0}, Pi/2} { Surface{k < 0 ? 1 : 10+k}; Layers{4}; Recombine; };
  end[] += {part[0]};
  water[] += {part[1]};
EndFor
For k In {0:3}
  part[] = Extrude {{0, 0, 1}, {0, 0, 0}, Pi/2} { Surface{20+k}; Layers{4}; Recombine; };
  steel[] += {part[1]};
  outside[] += {part[3]};
EndFor

Physical Volume("water", 1) = {water[]};
Physical Volume("steel", 2) = {steel[]};
Physical Surface("inlet", 1) = {1, 10:13};
Physical Surface("outlet", 2) = {end[]};
Physical Surface("outside", 3) = {outside[]};
Mesh.ElementOrder = 2;  // circles stay round
Mesh.MshFileVersion = 2.2;
