!mod$ v1 sum:4b6c87158e49c78c
module kernels
contains
subroutine step(steps,n,m,a,b)
integer(4),intent(in)::steps
integer(4),intent(in)::n
integer(4),intent(in)::m
real(8),intent(inout)::a(1_8:int(n,kind=8),1_8:int(m,kind=8))
real(8),intent(inout)::b(1_8:int(n,kind=8),1_8:int(m,kind=8))
end
end
