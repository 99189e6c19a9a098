// A plug in a round tube full of sand, in metres, for `gmsh porous_plug.geo -3`.
// Radius of the tube 1 cm, of the plug 7 mm; the plug is 2 cm long, in the middle of 6 cm. 36 hexahedra of third order.
tube = 0.01; plug = 0.007; core = 0.0035; length = 0.06; begin = 0.02; end = 0.04;

Point(1) = {0, 0, 0};
For k In {0:3}  // corners of a square, on the plug and on the tube
  angle = Pi/4 + k*Pi/2;
  Point(10+k) = {core*Cos(angle), core*Sin(angle), 0};
  Point(20+k) = {plug*Cos(angle), plug*Sin(angle), 0};
  Point(30+k) = {tube*Cos(angle), tube*Sin(angle), 0};
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

// Three lengths of the tube, one after the other; the inner part of the second one is the plug.
sand[] = {}; plugs[] = {}; wall[] = {}; inner[] = {1, 10:13}; outer[] = {20:23};
heights[] = {begin, end - begin, length - end};
layers[] = {1, 2, 1};
For part In {0:2}
  next[] = {};
  For k In {0:4}
    piece[] = Extrude {0, 0, heights[part]} { Surface{inner[k]}; Layers{layers[part]}; Recombine; };
    next[] += {piece[0]};
    If (part == 1)
      plugs[] += {piece[1]};
    Else
      sand[] += {piece[1]};
    EndIf
  EndFor
  inner[] = next[];
  next[] = {};
  For k In {0:3}
    piece[] = Extrude {0, 0, heights[part]} { Surface{outer[k]}; Layers{layers[part]}; Recombine; };
    next[] += {piece[0]};
    sand[] += {piece[1]};
    wall[] += {piece[3]};
  EndFor
  outer[] = next[];
EndFor

Physical Volume("sand", 1) = {sand[]};
Physical Volume("plug", 2) = {plugs[]};
Physical Surface("inlet", 1) = {1, 10:13, 20:23};
Physical Surface("outlet", 2) = {inner[], outer[]};
Physical Surface("wall", 3) = {wall[]};
Mesh.ElementOrder = 3;  // circles stay round
Mesh.MshFileVersion = 2.2;
