;; The loops over BM25's sums. sum-kernel.ts documents each function and holds the same loops in JavaScript.
;; Without bounds checks, adding takes half as long as in JavaScript; scanning 16 sums at once takes a tenth of the time.
;;
;; Memory, as sum-kernel.ts divides it:
;;   0         the sums, i32, one per passage of the window (2^18 passages)
;;   0x100000  the marks, u8, one per stretch of 512 passages: 1 where a passage of the stretch may have a sum
;;   0x100200  the candidates' distances from the window's first passage, i32; 0x100000 bytes later their sums, i32
;; A block's entry is four i32: where its distances (u16) begin, where its impacts (u8) begin, where its distances end,
;; all relative to $base, and the passage from which its distances count.
(module
  (import "env" "memory" (memory 1))

  (func (export "addAll")
    (param $entry i32) (param $entriesEnd i32) (param $base i32) (param $start i32) (param $weight i32)
    (local $distance i32) (local $distancesEnd i32) (local $impact i32)
    (local $shift i32) ;; address of the sum whose distance is 0
    (local $sum i32) (local $mark i32) (local $lastMark i32)
    (loop $blocks
      (local.set $distance (i32.add (local.get $base) (i32.load offset=0 (local.get $entry))))
      (local.set $impact (i32.add (local.get $base) (i32.load offset=4 (local.get $entry))))
      (local.set $distancesEnd (i32.add (local.get $base) (i32.load offset=8 (local.get $entry))))
      (local.set $shift (i32.shl (i32.sub (i32.load offset=12 (local.get $entry)) (local.get $start)) (i32.const 2)))

      ;; Marks every stretch from the block's first passage to its last. A sum's address >> 11 is its stretch.
      (local.set $mark (i32.shr_u
        (i32.add (i32.shl (i32.load16_u (local.get $distance)) (i32.const 2)) (local.get $shift)) (i32.const 11)))
      (local.set $lastMark (i32.shr_u
        (i32.add
          (i32.shl (i32.load16_u (i32.sub (local.get $distancesEnd) (i32.const 2))) (i32.const 2)) (local.get $shift))
        (i32.const 11)))
      (loop $marks
        (i32.store8 offset=0x100000 (local.get $mark) (i32.const 1))
        (local.set $mark (i32.add (local.get $mark) (i32.const 1)))
        (br_if $marks (i32.le_u (local.get $mark) (local.get $lastMark))))

      ;; Four postings a turn.
      (if (i32.lt_u (local.get $distance) (i32.sub (local.get $distancesEnd) (i32.const 6)))
        (then (loop $four
          (local.set $sum (i32.add (i32.shl (i32.load16_u offset=0 (local.get $distance)) (i32.const 2)) (local.get $shift)))
          (i32.store (local.get $sum) (i32.add (i32.load (local.get $sum))
            (i32.mul (i32.load8_u offset=0 (local.get $impact)) (local.get $weight))))
          (local.set $sum (i32.add (i32.shl (i32.load16_u offset=2 (local.get $distance)) (i32.const 2)) (local.get $shift)))
          (i32.store (local.get $sum) (i32.add (i32.load (local.get $sum))
            (i32.mul (i32.load8_u offset=1 (local.get $impact)) (local.get $weight))))
          (local.set $sum (i32.add (i32.shl (i32.load16_u offset=4 (local.get $distance)) (i32.const 2)) (local.get $shift)))
          (i32.store (local.get $sum) (i32.add (i32.load (local.get $sum))
            (i32.mul (i32.load8_u offset=2 (local.get $impact)) (local.get $weight))))
          (local.set $sum (i32.add (i32.shl (i32.load16_u offset=6 (local.get $distance)) (i32.const 2)) (local.get $shift)))
          (i32.store (local.get $sum) (i32.add (i32.load (local.get $sum))
            (i32.mul (i32.load8_u offset=3 (local.get $impact)) (local.get $weight))))
          (local.set $impact (i32.add (local.get $impact) (i32.const 4)))
          (local.set $distance (i32.add (local.get $distance) (i32.const 8)))
          (br_if $four (i32.lt_u (local.get $distance) (i32.sub (local.get $distancesEnd) (i32.const 6)))))))

      ;; The up to three that are left.
      (if (i32.lt_u (local.get $distance) (local.get $distancesEnd))
        (then (loop $one
          (local.set $sum (i32.add (i32.shl (i32.load16_u (local.get $distance)) (i32.const 2)) (local.get $shift)))
          (i32.store (local.get $sum) (i32.add (i32.load (local.get $sum))
            (i32.mul (i32.load8_u (local.get $impact)) (local.get $weight))))
          (local.set $impact (i32.add (local.get $impact) (i32.const 1)))
          (local.set $distance (i32.add (local.get $distance) (i32.const 2)))
          (br_if $one (i32.lt_u (local.get $distance) (local.get $distancesEnd))))))

      (local.set $entry (i32.add (local.get $entry) (i32.const 16)))
      (br_if $blocks (i32.lt_u (local.get $entry) (local.get $entriesEnd)))))

  ;; As addAll, but only where there is a sum already. Those stretches are marked.
  (func (export "addSummed")
    (param $entry i32) (param $entriesEnd i32) (param $base i32) (param $start i32) (param $weight i32)
    (local $distance i32) (local $distancesEnd i32) (local $impact i32) (local $shift i32) (local $sum i32)
    (loop $blocks
      (local.set $distance (i32.add (local.get $base) (i32.load offset=0 (local.get $entry))))
      (local.set $impact (i32.add (local.get $base) (i32.load offset=4 (local.get $entry))))
      (local.set $distancesEnd (i32.add (local.get $base) (i32.load offset=8 (local.get $entry))))
      (local.set $shift (i32.shl (i32.sub (i32.load offset=12 (local.get $entry)) (local.get $start)) (i32.const 2)))

      (if (i32.lt_u (local.get $distance) (i32.sub (local.get $distancesEnd) (i32.const 6)))
        (then (loop $four
          (local.set $sum (i32.add (i32.shl (i32.load16_u offset=0 (local.get $distance)) (i32.const 2)) (local.get $shift)))
          (if (i32.load (local.get $sum)) (then
            (i32.store (local.get $sum) (i32.add (i32.load (local.get $sum))
              (i32.mul (i32.load8_u offset=0 (local.get $impact)) (local.get $weight))))))
          (local.set $sum (i32.add (i32.shl (i32.load16_u offset=2 (local.get $distance)) (i32.const 2)) (local.get $shift)))
          (if (i32.load (local.get $sum)) (then
            (i32.store (local.get $sum) (i32.add (i32.load (local.get $sum))
              (i32.mul (i32.load8_u offset=1 (local.get $impact)) (local.get $weight))))))
          (local.set $sum (i32.add (i32.shl (i32.load16_u offset=4 (local.get $distance)) (i32.const 2)) (local.get $shift)))
          (if (i32.load (local.get $sum)) (then
            (i32.store (local.get $sum) (i32.add (i32.load (local.get $sum))
              (i32.mul (i32.load8_u offset=2 (local.get $impact)) (local.get $weight))))))
          (local.set $sum (i32.add (i32.shl (i32.load16_u offset=6 (local.get $distance)) (i32.const 2)) (local.get $shift)))
          (if (i32.load (local.get $sum)) (then
            (i32.store (local.get $sum) (i32.add (i32.load (local.get $sum))
              (i32.mul (i32.load8_u offset=3 (local.get $impact)) (local.get $weight))))))
          (local.set $impact (i32.add (local.get $impact) (i32.const 4)))
          (local.set $distance (i32.add (local.get $distance) (i32.const 8)))
          (br_if $four (i32.lt_u (local.get $distance) (i32.sub (local.get $distancesEnd) (i32.const 6)))))))

      (if (i32.lt_u (local.get $distance) (local.get $distancesEnd))
        (then (loop $one
          (local.set $sum (i32.add (i32.shl (i32.load16_u (local.get $distance)) (i32.const 2)) (local.get $shift)))
          (if (i32.load (local.get $sum)) (then
            (i32.store (local.get $sum) (i32.add (i32.load (local.get $sum))
              (i32.mul (i32.load8_u (local.get $impact)) (local.get $weight))))))
          (local.set $impact (i32.add (local.get $impact) (i32.const 1)))
          (local.set $distance (i32.add (local.get $distance) (i32.const 2)))
          (br_if $one (i32.lt_u (local.get $distance) (local.get $distancesEnd))))))

      (local.set $entry (i32.add (local.get $entry) (i32.const 16)))
      (br_if $blocks (i32.lt_u (local.get $entry) (local.get $entriesEnd)))))

  (func (export "largest") (param $mark i32) (param $marksEnd i32) (param $out i32) (result i32)
    (local $sum i32) (local $stretchEnd i32) (local $most v128)
    (loop $stretches
      (if (i32.load8_u (local.get $mark)) (then
        (local.set $sum (i32.shl (i32.sub (local.get $mark) (i32.const 0x100000)) (i32.const 11)))
        (local.set $stretchEnd (i32.add (local.get $sum) (i32.const 2048)))
        (local.set $most (v128.const i32x4 0 0 0 0))
        (loop $sixteen
          (local.set $most (i32x4.max_s (local.get $most) (v128.load offset=0 (local.get $sum))))
          (local.set $most (i32x4.max_s (local.get $most) (v128.load offset=16 (local.get $sum))))
          (local.set $most (i32x4.max_s (local.get $most) (v128.load offset=32 (local.get $sum))))
          (local.set $most (i32x4.max_s (local.get $most) (v128.load offset=48 (local.get $sum))))
          (local.set $sum (i32.add (local.get $sum) (i32.const 64)))
          (br_if $sixteen (i32.lt_u (local.get $sum) (local.get $stretchEnd))))
        ;; The largest of the four lanes: each with the lane two on, then with the next one.
        (local.set $most (i32x4.max_s (local.get $most)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $most) (local.get $most))))
        (local.set $most (i32x4.max_s (local.get $most)
          (i8x16.shuffle 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 (local.get $most) (local.get $most))))
        (i32.store (local.get $out) (i32.shl (i32.sub (local.get $mark) (i32.const 0x100000)) (i32.const 9)))
        (i32.store offset=0x100000 (local.get $out) (i32x4.extract_lane 0 (local.get $most)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))))
      (local.set $mark (i32.add (local.get $mark) (i32.const 1)))
      (br_if $stretches (i32.lt_u (local.get $mark) (local.get $marksEnd))))
    (local.get $out))

  (func (export "scan") (param $mark i32) (param $marksEnd i32) (param $limit i32) (param $out i32) (result i32)
    (local $sum i32) (local $stretchEnd i32) (local $listed i32) (local $limits v128)
    (local $above i32) ;; a bit for each of 16 sums: 1 where it is above the limit
    (local.set $limits (i32x4.splat (local.get $limit)))
    (loop $stretches
      (if (i32.load8_u (local.get $mark)) (then
        (i32.store8 (local.get $mark) (i32.const 0))
        (local.set $sum (i32.shl (i32.sub (local.get $mark) (i32.const 0x100000)) (i32.const 11)))
        (local.set $stretchEnd (i32.add (local.get $sum) (i32.const 2048)))
        (loop $sixteen
          (local.set $above (i8x16.bitmask (i8x16.narrow_i16x8_s
            (i16x8.narrow_i32x4_s
              (i32x4.gt_s (v128.load offset=0 (local.get $sum)) (local.get $limits))
              (i32x4.gt_s (v128.load offset=16 (local.get $sum)) (local.get $limits)))
            (i16x8.narrow_i32x4_s
              (i32x4.gt_s (v128.load offset=32 (local.get $sum)) (local.get $limits))
              (i32x4.gt_s (v128.load offset=48 (local.get $sum)) (local.get $limits))))))
          (if (local.get $above) (then (loop $list
            (local.set $listed (i32.add (i32.shl (i32.ctz (local.get $above)) (i32.const 2)) (local.get $sum)))
            (i32.store (local.get $out) (i32.shr_u (local.get $listed) (i32.const 2)))
            (i32.store offset=0x100000 (local.get $out) (i32.load (local.get $listed)))
            (local.set $out (i32.add (local.get $out) (i32.const 4)))
            ;; Clears the lowest bit.
            (local.set $above (i32.and (local.get $above) (i32.sub (local.get $above) (i32.const 1))))
            (br_if $list (local.get $above)))))
          (v128.store offset=0 (local.get $sum) (v128.const i32x4 0 0 0 0))
          (v128.store offset=16 (local.get $sum) (v128.const i32x4 0 0 0 0))
          (v128.store offset=32 (local.get $sum) (v128.const i32x4 0 0 0 0))
          (v128.store offset=48 (local.get $sum) (v128.const i32x4 0 0 0 0))
          (local.set $sum (i32.add (local.get $sum) (i32.const 64)))
          (br_if $sixteen (i32.lt_u (local.get $sum) (local.get $stretchEnd))))))
      (local.set $mark (i32.add (local.get $mark) (i32.const 1)))
      (br_if $stretches (i32.lt_u (local.get $mark) (local.get $marksEnd))))
    (local.get $out)))
