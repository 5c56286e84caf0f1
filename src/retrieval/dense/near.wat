;; The inner loops of a graph's search: inner products of one query with four vectors at a time, wherever in memory they
;; lie, so that four memory accesses are under way at once; and the step from one vector to its neighbours.
;; graph-search.ts documents the exports.
;;
;; Memory begins with the ids to compare (u32, 516 of them), their scores (f32, at 2064) and a word that is only written
;; (at 4128). The imported numbers say where the rest is.
(module
  (import "env" "memory" (memory 1))
  (import "env" "query" (global $query i32))
  (import "env" "queryEnd" (global $queryEnd i32))
  (import "env" "vectors" (global $vectors i32)) ;; the first vector
  (import "env" "stride" (global $stride i32)) ;; bytes from one vector to the next
  (import "env" "isInt8" (global $isInt8 i32)) ;; 1: vectors are bytes and the query 16-bit integers; 0: all f32
  (import "env" "scales" (global $scales i32)) ;; f32 for each vector, which multiplies its score; 0: there is none
  (import "env" "marks" (global $marks i32)) ;; u8 for each vector
  (import "env" "linkBytes" (global $linkBytes i32)) ;; bytes of a vector's links

  (func $near (export "near") (param $turns i32)
    (if (global.get $isInt8)
      (then (call $nearInt8 (local.get $turns)))
      (else (call $nearF32 (local.get $turns)))))

  ;; Vectors and query are a multiple of four numbers: sixteen a turn, then four a turn.
  (func $nearF32 (param $turns i32)
    (local $id i32) (local $score i32) (local $query i32) (local $queryEnd i32) (local $x v128)
    (local $va i32) (local $vb i32) (local $vc i32) (local $vd i32) ;; addresses in the four vectors
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) ;; the sums of the four
    (local.set $score (i32.const 2064))
    (local.set $queryEnd (global.get $queryEnd))
    (loop $four
      (local.set $va (i32.add (global.get $vectors)
        (i32.mul (i32.load offset=0 (local.get $id)) (global.get $stride))))
      (local.set $vb (i32.add (global.get $vectors)
        (i32.mul (i32.load offset=4 (local.get $id)) (global.get $stride))))
      (local.set $vc (i32.add (global.get $vectors)
        (i32.mul (i32.load offset=8 (local.get $id)) (global.get $stride))))
      (local.set $vd (i32.add (global.get $vectors)
        (i32.mul (i32.load offset=12 (local.get $id)) (global.get $stride))))
      (local.set $a (v128.const i32x4 0 0 0 0))
      (local.set $b (v128.const i32x4 0 0 0 0))
      (local.set $c (v128.const i32x4 0 0 0 0))
      (local.set $d (v128.const i32x4 0 0 0 0))
      (local.set $query (global.get $query))
      (if (i32.le_u (i32.add (local.get $query) (i32.const 64)) (local.get $queryEnd)) (then (loop $sixteen
        (local.set $x (v128.load offset=0 (local.get $query)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (v128.load offset=0 (local.get $va)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (v128.load offset=0 (local.get $vb)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (v128.load offset=0 (local.get $vc)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (v128.load offset=0 (local.get $vd)))))
        (local.set $x (v128.load offset=16 (local.get $query)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (v128.load offset=16 (local.get $va)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (v128.load offset=16 (local.get $vb)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (v128.load offset=16 (local.get $vc)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (v128.load offset=16 (local.get $vd)))))
        (local.set $x (v128.load offset=32 (local.get $query)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (v128.load offset=32 (local.get $va)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (v128.load offset=32 (local.get $vb)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (v128.load offset=32 (local.get $vc)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (v128.load offset=32 (local.get $vd)))))
        (local.set $x (v128.load offset=48 (local.get $query)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (v128.load offset=48 (local.get $va)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (v128.load offset=48 (local.get $vb)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (v128.load offset=48 (local.get $vc)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (v128.load offset=48 (local.get $vd)))))
        (local.set $va (i32.add (local.get $va) (i32.const 64)))
        (local.set $vb (i32.add (local.get $vb) (i32.const 64)))
        (local.set $vc (i32.add (local.get $vc) (i32.const 64)))
        (local.set $vd (i32.add (local.get $vd) (i32.const 64)))
        (local.set $query (i32.add (local.get $query) (i32.const 64)))
        (br_if $sixteen (i32.le_u (i32.add (local.get $query) (i32.const 64)) (local.get $queryEnd))))))
      (if (i32.lt_u (local.get $query) (local.get $queryEnd)) (then (loop $rest
        (local.set $x (v128.load offset=0 (local.get $query)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (v128.load offset=0 (local.get $va)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (v128.load offset=0 (local.get $vb)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (v128.load offset=0 (local.get $vc)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (v128.load offset=0 (local.get $vd)))))
        (local.set $va (i32.add (local.get $va) (i32.const 16)))
        (local.set $vb (i32.add (local.get $vb) (i32.const 16)))
        (local.set $vc (i32.add (local.get $vc) (i32.const 16)))
        (local.set $vd (i32.add (local.get $vd) (i32.const 16)))
        (local.set $query (i32.add (local.get $query) (i32.const 16)))
        (br_if $rest (i32.lt_u (local.get $query) (local.get $queryEnd))))))
      (f32.store offset=0 (local.get $score) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
        (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
      (f32.store offset=4 (local.get $score) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $b)) (f32x4.extract_lane 1 (local.get $b)))
        (f32.add (f32x4.extract_lane 2 (local.get $b)) (f32x4.extract_lane 3 (local.get $b)))))
      (f32.store offset=8 (local.get $score) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $c)) (f32x4.extract_lane 1 (local.get $c)))
        (f32.add (f32x4.extract_lane 2 (local.get $c)) (f32x4.extract_lane 3 (local.get $c)))))
      (f32.store offset=12 (local.get $score) (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $d)) (f32x4.extract_lane 1 (local.get $d)))
        (f32.add (f32x4.extract_lane 2 (local.get $d)) (f32x4.extract_lane 3 (local.get $d)))))
      (local.set $id (i32.add (local.get $id) (i32.const 16)))
      (local.set $score (i32.add (local.get $score) (i32.const 16)))
      (local.set $turns (i32.sub (local.get $turns) (i32.const 1)))
      (br_if $four (local.get $turns))))

  ;; Vectors and query are a multiple of sixteen numbers.
  (func $nearInt8 (param $turns i32)
    (local $id i32) (local $score i32) (local $query i32) (local $queryEnd i32) (local $x v128)
    (local $va i32) (local $vb i32) (local $vc i32) (local $vd i32) ;; addresses in the four vectors
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) ;; the sums of the four
    (local.set $score (i32.const 2064))
    (local.set $queryEnd (global.get $queryEnd))
    (loop $four
      (local.set $va (i32.add (global.get $vectors)
        (i32.mul (i32.load offset=0 (local.get $id)) (global.get $stride))))
      (local.set $vb (i32.add (global.get $vectors)
        (i32.mul (i32.load offset=4 (local.get $id)) (global.get $stride))))
      (local.set $vc (i32.add (global.get $vectors)
        (i32.mul (i32.load offset=8 (local.get $id)) (global.get $stride))))
      (local.set $vd (i32.add (global.get $vectors)
        (i32.mul (i32.load offset=12 (local.get $id)) (global.get $stride))))
      (local.set $a (v128.const i32x4 0 0 0 0))
      (local.set $b (v128.const i32x4 0 0 0 0))
      (local.set $c (v128.const i32x4 0 0 0 0))
      (local.set $d (v128.const i32x4 0 0 0 0))
      (local.set $query (global.get $query))
      (loop $sixteen
        (local.set $x (v128.load offset=0 (local.get $query)))
        (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s (local.get $x) (v128.load8x8_s offset=0 (local.get $va)))))
        (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s (local.get $x) (v128.load8x8_s offset=0 (local.get $vb)))))
        (local.set $c (i32x4.add (local.get $c) (i32x4.dot_i16x8_s (local.get $x) (v128.load8x8_s offset=0 (local.get $vc)))))
        (local.set $d (i32x4.add (local.get $d) (i32x4.dot_i16x8_s (local.get $x) (v128.load8x8_s offset=0 (local.get $vd)))))
        (local.set $x (v128.load offset=16 (local.get $query)))
        (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s (local.get $x) (v128.load8x8_s offset=8 (local.get $va)))))
        (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s (local.get $x) (v128.load8x8_s offset=8 (local.get $vb)))))
        (local.set $c (i32x4.add (local.get $c) (i32x4.dot_i16x8_s (local.get $x) (v128.load8x8_s offset=8 (local.get $vc)))))
        (local.set $d (i32x4.add (local.get $d) (i32x4.dot_i16x8_s (local.get $x) (v128.load8x8_s offset=8 (local.get $vd)))))
        (local.set $va (i32.add (local.get $va) (i32.const 16)))
        (local.set $vb (i32.add (local.get $vb) (i32.const 16)))
        (local.set $vc (i32.add (local.get $vc) (i32.const 16)))
        (local.set $vd (i32.add (local.get $vd) (i32.const 16)))
        (local.set $query (i32.add (local.get $query) (i32.const 32)))
        (br_if $sixteen (i32.lt_u (local.get $query) (local.get $queryEnd))))
      (f32.store offset=0 (local.get $score) (f32.convert_i32_s (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
        (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a))))))
      (f32.store offset=4 (local.get $score) (f32.convert_i32_s (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $b)) (i32x4.extract_lane 1 (local.get $b)))
        (i32.add (i32x4.extract_lane 2 (local.get $b)) (i32x4.extract_lane 3 (local.get $b))))))
      (f32.store offset=8 (local.get $score) (f32.convert_i32_s (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $c)) (i32x4.extract_lane 1 (local.get $c)))
        (i32.add (i32x4.extract_lane 2 (local.get $c)) (i32x4.extract_lane 3 (local.get $c))))))
      (f32.store offset=12 (local.get $score) (f32.convert_i32_s (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $d)) (i32x4.extract_lane 1 (local.get $d)))
        (i32.add (i32x4.extract_lane 2 (local.get $d)) (i32x4.extract_lane 3 (local.get $d))))))
      (if (global.get $scales) (then
        (f32.store offset=0 (local.get $score) (f32.mul (f32.load offset=0 (local.get $score))
          (f32.load (i32.add (global.get $scales) (i32.shl (i32.load offset=0 (local.get $id)) (i32.const 2))))))
        (f32.store offset=4 (local.get $score) (f32.mul (f32.load offset=4 (local.get $score))
          (f32.load (i32.add (global.get $scales) (i32.shl (i32.load offset=4 (local.get $id)) (i32.const 2))))))
        (f32.store offset=8 (local.get $score) (f32.mul (f32.load offset=8 (local.get $score))
          (f32.load (i32.add (global.get $scales) (i32.shl (i32.load offset=8 (local.get $id)) (i32.const 2))))))
        (f32.store offset=12 (local.get $score) (f32.mul (f32.load offset=12 (local.get $score))
          (f32.load (i32.add (global.get $scales) (i32.shl (i32.load offset=12 (local.get $id)) (i32.const 2))))))))
      (local.set $id (i32.add (local.get $id) (i32.const 16)))
      (local.set $score (i32.add (local.get $score) (i32.const 16)))
      (local.set $turns (i32.sub (local.get $turns) (i32.const 1)))
      (br_if $four (local.get $turns))))

  ;; There is no branch on what is found, because a processor cannot predict it: every id and score is written, and kept
  ;; by moving the place of the next one, or not.
  (func (export "expand") (param $link i32) (param $next i32) (param $mark i32) (param $floor f32) (result i32)
    (local $last i32) (local $out i32) (local $id i32) (local $read i32) (local $write i32) (local $line i32)
    (local $touched i32) (local $score f32) (local $marked i32) (local $vectors i32) (local $stride i32)
    (local.set $vectors (global.get $vectors))
    (local.set $stride (global.get $stride))
    ;; WebAssembly has no prefetch: one word of each cache line of the next vector's links is read.
    (loop $lines
      (local.set $touched (i32.add (local.get $touched) (i32.load (i32.add (local.get $next) (local.get $line)))))
      (local.set $line (i32.add (local.get $line) (i32.const 64)))
      (br_if $lines (i32.lt_u (local.get $line) (global.get $linkBytes))))

    ;; Lists the neighbours without a mark, marks them, and touches their vectors.
    (local.set $last (i32.add (local.get $link) (i32.shl (i32.load16_u (local.get $link)) (i32.const 2))))
    (if (i32.lt_u (local.get $link) (local.get $last)) (then (loop $links
      (local.set $link (i32.add (local.get $link) (i32.const 4)))
      (local.set $id (i32.load (local.get $link)))
      (local.set $marked (i32.add (global.get $marks) (local.get $id)))
      (i32.store (local.get $out) (local.get $id))
      (local.set $out (i32.add (local.get $out) (i32.shl
        (i32.ne (i32.load8_u (local.get $marked)) (local.get $mark)) (i32.const 2))))
      (i32.store8 (local.get $marked) (local.get $mark))
      (local.set $touched (i32.add (local.get $touched)
        (i32.load (i32.add (local.get $vectors) (i32.mul (local.get $id) (local.get $stride))))))
      (br_if $links (i32.lt_u (local.get $link) (local.get $last))))))

    ;; Scores them, four at a time (the first id fills up the last four), and lists those above the floor.
    (if (local.get $out) (then
      (i32.store offset=0 (local.get $out) (i32.load (i32.const 0)))
      (i32.store offset=4 (local.get $out) (i32.load (i32.const 0)))
      (i32.store offset=8 (local.get $out) (i32.load (i32.const 0)))
      (call $near (i32.shr_u (i32.add (local.get $out) (i32.const 12)) (i32.const 4)))
      (loop $scores
        (local.set $score (f32.load offset=2064 (local.get $read)))
        (i32.store (local.get $write) (i32.load (local.get $read)))
        (f32.store offset=2064 (local.get $write) (local.get $score))
        (local.set $write (i32.add (local.get $write)
          (i32.shl (f32.gt (local.get $score) (local.get $floor)) (i32.const 2))))
        (local.set $read (i32.add (local.get $read) (i32.const 4)))
        (br_if $scores (i32.lt_u (local.get $read) (local.get $out))))))

    (i32.store (i32.const 4128) (local.get $touched))
    (i32.shr_u (local.get $write) (i32.const 2))))
