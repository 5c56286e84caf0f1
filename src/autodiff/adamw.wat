;; The loops of an optimizer step over float32 arrays, four elements at a time; adam-loops.ts has the same in JavaScript.
;;
;; Every operation rounds to float32, and the last elements, fewer than four, take the same operations one by one: so an element's
;; result does not depend on where a range begins or ends. Addresses are in bytes; `count` is a number of elements.
(module
  ;; scripts/compile-kernels.mjs also compiles it for memory that threads share.
  (import "env" "memory" (memory 1))

  ;; AdamW (adamw.ts) over four arrays.
  (func (export "step")
    (param $p i32) (param $g i32) (param $m i32) (param $v i32) (param $count i32)
    (param $meanKept f32) (param $meanShare f32) (param $squareKept f32) (param $squareShare f32)
    (param $rate f32) (param $epsilon f32) (param $decay f32)
    (local $end i32) (local $foursEnd i32)
    (local $p4 v128) (local $g4 v128) (local $m4 v128) (local $v4 v128)
    (local $meanKept4 v128) (local $meanShare4 v128) (local $squareKept4 v128) (local $squareShare4 v128)
    (local $rate4 v128) (local $epsilon4 v128) (local $decay4 v128)
    (local $p1 f32) (local $g1 f32) (local $m1 f32) (local $v1 f32)
    (local.set $meanKept4 (f32x4.splat (local.get $meanKept)))
    (local.set $meanShare4 (f32x4.splat (local.get $meanShare)))
    (local.set $squareKept4 (f32x4.splat (local.get $squareKept)))
    (local.set $squareShare4 (f32x4.splat (local.get $squareShare)))
    (local.set $rate4 (f32x4.splat (local.get $rate)))
    (local.set $epsilon4 (f32x4.splat (local.get $epsilon)))
    (local.set $decay4 (f32x4.splat (local.get $decay)))
    (local.set $end (i32.add (local.get $p) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $foursEnd (i32.add (local.get $p)
      (i32.shl (i32.and (local.get $count) (i32.const -4)) (i32.const 2))))
    (block $foursDone
      (loop $four
        (br_if $foursDone (i32.eq (local.get $p) (local.get $foursEnd)))
        (local.set $g4 (v128.load (local.get $g)))
        (local.set $m4 (f32x4.add
          (f32x4.mul (local.get $meanKept4) (v128.load (local.get $m)))
          (f32x4.mul (local.get $meanShare4) (local.get $g4))))
        (local.set $v4 (f32x4.add
          (f32x4.mul (local.get $squareKept4) (v128.load (local.get $v)))
          (f32x4.mul (f32x4.mul (local.get $squareShare4) (local.get $g4)) (local.get $g4))))
        (v128.store (local.get $m) (local.get $m4))
        (v128.store (local.get $v) (local.get $v4))
        (local.set $p4 (v128.load (local.get $p)))
        (v128.store (local.get $p) (f32x4.sub (local.get $p4) (f32x4.add
          (f32x4.div
            (f32x4.mul (local.get $rate4) (local.get $m4))
            (f32x4.add (f32x4.sqrt (local.get $v4)) (local.get $epsilon4)))
          (f32x4.mul (local.get $decay4) (local.get $p4)))))
        (local.set $p (i32.add (local.get $p) (i32.const 16)))
        (local.set $g (i32.add (local.get $g) (i32.const 16)))
        (local.set $m (i32.add (local.get $m) (i32.const 16)))
        (local.set $v (i32.add (local.get $v) (i32.const 16)))
        (br $four)))
    (block $onesDone
      (loop $one
        (br_if $onesDone (i32.eq (local.get $p) (local.get $end)))
        (local.set $g1 (f32.load (local.get $g)))
        (local.set $m1 (f32.add
          (f32.mul (local.get $meanKept) (f32.load (local.get $m)))
          (f32.mul (local.get $meanShare) (local.get $g1))))
        (local.set $v1 (f32.add
          (f32.mul (local.get $squareKept) (f32.load (local.get $v)))
          (f32.mul (f32.mul (local.get $squareShare) (local.get $g1)) (local.get $g1))))
        (f32.store (local.get $m) (local.get $m1))
        (f32.store (local.get $v) (local.get $v1))
        (local.set $p1 (f32.load (local.get $p)))
        (f32.store (local.get $p) (f32.sub (local.get $p1) (f32.add
          (f32.div
            (f32.mul (local.get $rate) (local.get $m1))
            (f32.add (f32.sqrt (local.get $v1)) (local.get $epsilon)))
          (f32.mul (local.get $decay) (local.get $p1)))))
        (local.set $p (i32.add (local.get $p) (i32.const 4)))
        (local.set $g (i32.add (local.get $g) (i32.const 4)))
        (local.set $m (i32.add (local.get $m) (i32.const 4)))
        (local.set $v (i32.add (local.get $v) (i32.const 4)))
        (br $one))))

  ;; Adds the elements at $from to those at $into.
  (func (export "add") (param $into i32) (param $from i32) (param $count i32)
    (local $end i32) (local $foursEnd i32)
    (local.set $end (i32.add (local.get $into) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $foursEnd (i32.add (local.get $into)
      (i32.shl (i32.and (local.get $count) (i32.const -4)) (i32.const 2))))
    (block $foursDone
      (loop $four
        (br_if $foursDone (i32.eq (local.get $into) (local.get $foursEnd)))
        (v128.store (local.get $into)
          (f32x4.add (v128.load (local.get $into)) (v128.load (local.get $from))))
        (local.set $into (i32.add (local.get $into) (i32.const 16)))
        (local.set $from (i32.add (local.get $from) (i32.const 16)))
        (br $four)))
    (block $onesDone
      (loop $one
        (br_if $onesDone (i32.eq (local.get $into) (local.get $end)))
        (f32.store (local.get $into)
          (f32.add (f32.load (local.get $into)) (f32.load (local.get $from))))
        (local.set $into (i32.add (local.get $into) (i32.const 4)))
        (local.set $from (i32.add (local.get $from) (i32.const 4)))
        (br $one))))

  ;; Sum of squares in float64: element i is added to sum i mod 8, then the eight sums are added; the last elements, fewer than
  ;; eight, one by one.
  (func (export "squares") (param $x i32) (param $count i32) (result f64)
    (local $end i32) (local $eightsEnd i32) (local $x2 v128) (local $x1 f64) (local $sum f64)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) ;; sums 0 and 1, 2 and 3, and so on
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $eightsEnd (i32.add (local.get $x)
      (i32.shl (i32.and (local.get $count) (i32.const -8)) (i32.const 2))))
    (block $eightsDone
      (loop $eight
        (br_if $eightsDone (i32.eq (local.get $x) (local.get $eightsEnd)))
        (local.set $x2 (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $x))))
        (local.set $a (f64x2.add (local.get $a) (f64x2.mul (local.get $x2) (local.get $x2))))
        (local.set $x2 (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $x))))
        (local.set $b (f64x2.add (local.get $b) (f64x2.mul (local.get $x2) (local.get $x2))))
        (local.set $x2 (f64x2.promote_low_f32x4 (v128.load64_zero offset=16 (local.get $x))))
        (local.set $c (f64x2.add (local.get $c) (f64x2.mul (local.get $x2) (local.get $x2))))
        (local.set $x2 (f64x2.promote_low_f32x4 (v128.load64_zero offset=24 (local.get $x))))
        (local.set $d (f64x2.add (local.get $d) (f64x2.mul (local.get $x2) (local.get $x2))))
        (local.set $x (i32.add (local.get $x) (i32.const 32)))
        (br $eight)))
    (local.set $a (f64x2.add
      (f64x2.add (local.get $a) (local.get $b))
      (f64x2.add (local.get $c) (local.get $d))))
    (local.set $sum (f64.add (f64x2.extract_lane 0 (local.get $a)) (f64x2.extract_lane 1 (local.get $a))))
    (block $onesDone
      (loop $one
        (br_if $onesDone (i32.eq (local.get $x) (local.get $end)))
        (local.set $x1 (f64.promote_f32 (f32.load (local.get $x))))
        (local.set $sum (f64.add (local.get $sum) (f64.mul (local.get $x1) (local.get $x1))))
        (local.set $x (i32.add (local.get $x) (i32.const 4)))
        (br $one)))
    (local.get $sum)))
